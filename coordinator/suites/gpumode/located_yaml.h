#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_LOCATED_YAML_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_LOCATED_YAML_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {

// Longest text accepted, and most values in it.
inline constexpr int64_t kMaxYamlBytes = 256 << 10;
inline constexpr int kMaxYamlValues = 20000;

// Parses a file with one YAML document into the values of JSON, with the lines they stand on. Plain
// words mean what YAML 1.1 says, as in PyYAML: null, truth values (yes, no, on, off too), decimal
// and hexadecimal integers, decimal fractions; all else is text. INVALID_ARGUMENT
// "<file>:<line>: <what>" on bad syntax, on what JSON has no value for (anchors, aliases, tags,
// keys that are no text, several documents, numbers that are not finite), on a key that occurs
// twice, and beyond the limits above or kMaxJsonDepth.
absl::StatusOr<LocatedJson> ParseLocatedYaml(absl::string_view text, absl::string_view file);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_LOCATED_YAML_H_
