// JSON that was read from YAML can be written and read back unchanged.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/suites/gpumode/located_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = ksearch::ParseLocatedYaml(text, "fuzz.yml");
  if (!value.ok()) {
    CHECK(value.status().message().substr(0, 9) == "fuzz.yml:");
    return 0;
  }
  const std::string json = ksearch::WriteJson(*value, -1);
  const auto again = ksearch::ParseLocatedJson(json, "fuzz.json");
  CHECK(again.ok());
  CHECK(ksearch::WriteJson(*again, -1) == json);
  return 0;
}
