#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_DOCUMENT_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_DOCUMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"

namespace ksearch {

// Strict JSON to and from plain values. Keeps the JSON library, which is slow to compile, in one
// source file.

// The object that `text` is, from its first to its last character. The last of equal keys wins.
// INVALID_ARGUMENT names the line and column of the fault; NaN, infinities, numbers too large for a
// double, text that is not UTF-8, and nesting deeper than `max_depth` are faults.
absl::StatusOr<google::protobuf::Struct> ParseJsonObject(absl::string_view text, int max_depth);

// Whole numbers without a decimal point; keys sorted; two spaces a level.
std::string ToPrettyJson(const google::protobuf::Struct& object);
// On one line, in ASCII.
std::string ToCompactJson(const google::protobuf::Value& value);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_DOCUMENT_H_
