#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_LOCATED_YAML_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_LOCATED_YAML_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {

// The longest text that is accepted, and the maximum number of values in it.
inline constexpr int64_t kMaxYamlBytes = 256 << 10;
inline constexpr int kMaxYamlValues = 20000;

// Parses a file with one YAML document into JSON values with their line numbers. Plain words have
// the meaning of YAML 1.1, as in PyYAML: null, Booleans (also yes, no, on, off), decimal and
// hexadecimal integers, decimal fractions; everything else is text. INVALID_ARGUMENT
// "<file>:<line>: <what>" for bad syntax, for anything that JSON cannot represent (anchors,
// aliases, tags, keys that are not text, several documents, numbers that are not finite), for a
// repeated key, and beyond the limits above or kMaxJsonDepth.
absl::StatusOr<LocatedJson> ParseLocatedYaml(absl::string_view text, absl::string_view file);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_LOCATED_YAML_H_
