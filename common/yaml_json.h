#ifndef KSEARCH_COMMON_YAML_JSON_H_
#define KSEARCH_COMMON_YAML_JSON_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A YAML document as JSON, for protobuf's reader of JSON.
struct YamlAsJson {
  // Every scalar is a string or null. The type of the field decides how it is parsed, so that no
  // word is mistaken for a Boolean or a number.
  std::string json;
  // "a.b[0]" -> the line, from 1, on which that value begins.
  std::map<std::string, int> lines;
};

// Converts one document of mappings with distinct keys, sequences and scalars. JSON is also YAML.
// INVALID_ARGUMENT "<name>:<line>: <what>" on anything else (anchors, tags, several documents), and
// beyond 20,000 values or a depth of 64.
absl::StatusOr<YamlAsJson> YamlToJson(absl::string_view text, absl::string_view name);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_YAML_JSON_H_
