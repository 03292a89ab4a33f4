#include "gpu_worker/verifier/tensors/seed.h"

#include <string>

#include "common/digest.h"
#include "common/rng.h"

namespace ksearch {

Seed Seed::Fresh() { return {RandomUint64(), RandomUint64()}; }

uint64_t DeriveKey(const Seed& seed, absl::string_view workload_uuid, absl::string_view input,
                   absl::string_view purpose) {
  const std::string digest = CanonicalBytes()
                                 .Add(static_cast<int64_t>(seed.high))
                                 .Add(static_cast<int64_t>(seed.low))
                                 .Add(workload_uuid)
                                 .Add(input)
                                 .Add(purpose)
                                 .Sha256();
  return std::stoull(digest.substr(0, 16), nullptr, 16);
}

}  // namespace ksearch
