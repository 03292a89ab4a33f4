// A definition that parses is written and read back the same.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/tasks/definition_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto definition = ksearch::ParseDefinitionJson(text, "fuzz.json");
  if (!definition.ok()) {
    CHECK(definition.status().message().substr(0, 10) == "fuzz.json:");
    return 0;
  }
  const std::string written = ksearch::DefinitionToJson(*definition);
  const auto again = ksearch::ParseDefinitionJson(written, "again.json");
  CHECK(again.ok());
  CHECK(again->SerializeAsString() == definition->SerializeAsString());
  return 0;
}
