// A configuration in YAML becomes JSON that protobuf reads, with a line for every value; as a
// coordinator's it is a configuration, or refused in words that begin with its name.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/config_file.h"
#include "common/log.h"
#include "common/yaml_json.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "proto/config.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = ksearch::YamlToJson(text, "fuzz.yaml");
  if (read.ok()) {
    google::protobuf::Struct as_object;
    CHECK(google::protobuf::util::JsonStringToMessage(read->json, &as_object).ok());
    // YAML has more line breaks than '\n'; what is missing at the end is where the text ends.
    const auto last = static_cast<int64_t>(size) + 2;
    for (const auto& [path, line] : read->lines) CHECK(line >= 1 && line <= last);
  } else {
    CHECK(absl::IsInvalidArgument(read.status()));
    CHECK(absl::StartsWith(read.status().message(), "fuzz.yaml:"));
  }
  ksearch::v1::CoordinatorConfig config;
  const absl::Status parsed = ksearch::ParseConfig(text, "fuzz.yaml", &config);
  CHECK(read.ok() || !parsed.ok());
  if (!parsed.ok()) {
    CHECK(absl::IsInvalidArgument(parsed));
    CHECK(absl::StartsWith(parsed.message(), "fuzz.yaml:"));
  }
  return 0;
}
