#ifndef KSEARCH_COMMON_CANONICAL_ENCODING_H_
#define KSEARCH_COMMON_CANONICAL_ENCODING_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/digest.h"
#include "google/protobuf/message.h"

namespace ksearch {

// Appends a message to `bytes` such that two messages of one type give equal bytes if and only if
// they are equal in every field that is identity. Driven by the type's descriptor, so that a field
// added to a .proto is part of names from its first day, and messages that do not set it keep
// theirs:
// - fields in order of their numbers, each as its number and its value; 0 ends a message;
// - a field with presence (optional, oneof, message) counts once it is set, even to its default;
// one
//   without is left out at its default;
// - float and double by their bits: 0.0 and -0.0 differ;
// - elements of a repeated field in their order, unless it is `unordered`; maps by their keys;
// - fields with option `not_identity` (proto/task.proto) and unknown fields are left out.
void AddCanonical(const google::protobuf::Message& message, CanonicalBytes* bytes);

// Hex SHA-256 over `version` and the message. `version` names the kind of name and its rule, e.g.
// "job/2".
std::string CanonicalName(absl::string_view version, const google::protobuf::Message& message);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_CANONICAL_ENCODING_H_
