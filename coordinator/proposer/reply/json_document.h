#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_DOCUMENT_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_DOCUMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"

namespace ksearch {

// Strict JSON to and from plain values. Keeps the JSON library, which is slow to compile, in one
// source file.

// Parses `text` as a single object. The last of equal keys wins. INVALID_ARGUMENT names the line
// and column of the fault; faults include NaN, infinities, numbers too large for a double, invalid
// UTF-8, and nesting deeper than `max_depth`.
absl::StatusOr<google::protobuf::Struct> ParseJsonObject(absl::string_view text, int max_depth);

// Writes whole numbers without a decimal point, keys sorted, and two spaces per level.
std::string ToPrettyJson(const google::protobuf::Struct& object);
// Writes on one line, in ASCII.
std::string ToCompactJson(const google::protobuf::Value& value);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_DOCUMENT_H_
