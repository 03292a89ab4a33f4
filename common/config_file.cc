#include "common/config_file.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/yaml_json.h"

namespace ksearch {
namespace {

constexpr int64_t kMostBytes = 1 << 20;

// protobuf names the place in its own way: "(providers[0].retry) no_such: Cannot find field." or
// "providers[0].flow.max_concurrency: invalid value ...". Returns the line of the longest known
// path.
int LineOf(absl::string_view fault, const YamlAsJson& yaml) {
  std::string path;
  if (absl::ConsumePrefix(&fault, "(")) {
    const size_t end = fault.find(')');
    if (end == absl::string_view::npos) return 0;
    path = std::string(fault.substr(0, end));
    fault.remove_prefix(end + 1);
    absl::ConsumePrefix(&fault, ":");
    absl::ConsumePrefix(&fault, " ");
    const std::string inner(fault.substr(0, fault.find(':')));
    const std::string whole = path.empty() ? inner : absl::StrCat(path, ".", inner);
    if (const auto it = yaml.lines.find(whole); it != yaml.lines.end()) return it->second;
  } else {
    path = std::string(fault.substr(0, fault.find(':')));
  }
  while (true) {
    if (const auto it = yaml.lines.find(path); it != yaml.lines.end()) return it->second;
    const size_t end = path.find_last_of(".[");
    if (end == std::string::npos) return 0;
    path.resize(end);
  }
}

}  // namespace

absl::Status ParseConfig(absl::string_view text, const std::string& name,
                         google::protobuf::Message* message) {
  const bool json = absl::EndsWith(name, ".json");
  if (!json && !absl::EndsWith(name, ".yaml") && !absl::EndsWith(name, ".yml")) {
    return ParseTextproto(text, name, message);
  }
  // JSON is also YAML, so errors in both name a line.
  const auto yaml = YamlToJson(text, name);
  if (!json) RETURN_IF_ERROR(yaml.status());
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(json ? std::string(text) : yaml->json, message);
  if (parsed.ok()) return absl::OkStatus();
  const std::string fault(parsed.message().data(), parsed.message().size());
  const int line = yaml.ok() ? LineOf(fault, *yaml) : 0;
  if (line > 0) return absl::InvalidArgumentError(absl::StrCat(name, ":", line, ": ", fault));
  // The file is not JSON at all: the YAML reader's error names the place.
  if (json && !yaml.ok()) return yaml.status();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", fault));
}

absl::Status ReadConfigFile(const std::string& path, google::protobuf::Message* message) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  return ParseConfig(text, path, message);
}

}  // namespace ksearch
