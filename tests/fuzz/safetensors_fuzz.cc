// A tensor that is found in a header lies within the file's data.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/suites/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto entry = ksearch::FindInSafetensorsHeader(text, "fuzz.safetensors", "x", 1000);
  if (!entry.ok()) return 0;
  CHECK(0 <= entry->begin && entry->begin <= entry->end && entry->end <= 1000);
  for (const int64_t extent : entry->shape) CHECK(extent >= 0);
  return 0;
}
