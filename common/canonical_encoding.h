#ifndef KSEARCH_COMMON_CANONICAL_ENCODING_H_
#define KSEARCH_COMMON_CANONICAL_ENCODING_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/digest.h"
#include "google/protobuf/message.h"

namespace ksearch {

// Appends a message to `bytes` such that two messages of one type give equal bytes if and only if
// they are equal in every field that is part of the identity. The type's descriptor determines the
// encoding, so that a field added to a .proto is part of names from then on, and the names of
// messages that do not set it stay the same:
// - fields in order of their numbers, each as its number and its value; 0 ends a message;
// - a field with presence (optional, oneof, message) is included if it is set, even to its default;
//   any other field is omitted if it has its default;
// - float and double by their bits: 0.0 and -0.0 differ;
// - elements of a repeated field in their order, unless it is `unordered`; maps by their keys;
// - fields with the option `not_identity` (proto/task.proto) and unknown fields are omitted.
void AddCanonical(const google::protobuf::Message& message, CanonicalBytes* bytes);

// Hex SHA-256 over `version` and the message. `version` names the kind of name and its rule, e.g.
// "job/2".
std::string CanonicalName(absl::string_view version, const google::protobuf::Message& message);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_CANONICAL_ENCODING_H_
