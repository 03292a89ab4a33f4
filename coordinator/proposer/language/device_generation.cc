#include "coordinator/proposer/language/device_generation.h"

#include <initializer_list>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace ksearch {

DeviceGeneration GenerationOf(absl::string_view hardware) {
  const std::string lower = absl::AsciiStrToLower(hardware);
  const auto mentions = [&](std::initializer_list<absl::string_view> words) {
    for (const absl::string_view word : words) {
      if (absl::StrContains(lower, word)) return true;
    }
    return false;
  };
  if (mentions({"h100", "h200", "gh200", "hopper", "sm_90"})) return DeviceGeneration::kHopper;
  if (mentions({"b200", "b100", "blackwell", "sm_100"})) return DeviceGeneration::kBlackwell;
  return DeviceGeneration::kUnknown;
}

}  // namespace ksearch
