#ifndef KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_DEVICE_GENERATION_H_
#define KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_DEVICE_GENERATION_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// Generations of GPUs with hints of their own in prompts.
enum class DeviceGeneration { kUnknown, kHopper, kBlackwell };

// Returns the generation of hardware from its description, e.g. "NVIDIA H200, sm_90a".
DeviceGeneration GenerationOf(absl::string_view hardware);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_DEVICE_GENERATION_H_
