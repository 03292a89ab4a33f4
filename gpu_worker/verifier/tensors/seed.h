#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SEED_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SEED_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace ksearch {

// The secret from which all inputs are derived. It never leaves the verifier.
struct Seed {
  uint64_t high = 0;
  uint64_t low = 0;
  static Seed Fresh();  // from the Linux kernel
};

// A 64-bit key for one purpose, from which the seed cannot be recovered.
uint64_t DeriveKey(const Seed& seed, absl::string_view workload_uuid, absl::string_view input,
                   absl::string_view purpose);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SEED_H_
