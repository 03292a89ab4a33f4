#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_BUFFER_SETS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_BUFFER_SETS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "proto/runner.pb.h"

namespace ksearch {

// One MAP message and its descriptors, which stay owned by the BufferSets.
struct MapPacket {
  v1::MapRequest request;
  std::vector<int> fds;
};

// Bytes of every output of one call, in definition order.
using OutputBytes = std::vector<std::vector<std::byte>>;

// Memory that verifier and runner share for one workload: `sets` sets of its tensors, each tensor
// between guard bands. Implementations: memfd for CPU; device memory exported by descriptor for
// GPUs. All calls act on one set and return when the memory is as asked. Thread-compatible.
class BufferSets {
 public:
  virtual ~BufferSets() = default;
  virtual int sets() const = 0;
  virtual int64_t bytes() const = 0;  // all of it, guard bands too
  // From now on for this case, whose tensors have the same sizes (another seed).
  virtual void SetCase(std::shared_ptr<const WorkloadCase> workload) = 0;
  // For a runner that is to see the first `sets` sets; writes their guard bands anew.
  virtual std::vector<MapPacket> Map(int sets) = 0;
  // Writes the inputs of `content` and poisons the outputs.
  virtual void Prepare(int set, int64_t content, uint64_t poison_salt) = 0;
  // A sentence about the first guard band that changed, if any did.
  virtual std::optional<std::string> BrokenGuard(int set) const = 0;
  // The first input that no longer is `content`.
  virtual std::optional<std::string> ChangedInput(int set, int64_t content) const = 0;
  // The first output that still shows the poison of `poison_salt`.
  virtual std::optional<std::string> UnwrittenOutput(int set, uint64_t poison_salt) const = 0;
  // A private copy of every output, or of the first `max_bytes` bytes of each.
  virtual OutputBytes Outputs(int set, int64_t max_bytes) const = 0;
};

// Allocates; RESOURCE_EXHAUSTED if there is not enough memory.
using BufferSetsFactory = std::function<absl::StatusOr<std::shared_ptr<BufferSets>>(
    std::shared_ptr<const WorkloadCase>, int sets)>;

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_BUFFER_SETS_H_
