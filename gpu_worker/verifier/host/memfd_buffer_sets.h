#ifndef KSEARCH_GPU_WORKER_VERIFIER_HOST_MEMFD_BUFFER_SETS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HOST_MEMFD_BUFFER_SETS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/digest.h"
#include "common/unique_fd.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"

namespace ksearch {

// Host memory: one memfd per tensor and set, sealed against shrinking (otherwise a hostile runner
// could make the verifier fault). There is a guard band of kGuardBytes before a tensor's first
// byte, and one of at least that size right after its last. Each tensor starts on a page boundary.
class MemfdBufferSets final : public BufferSets {
 public:
  static constexpr int64_t kGuardBytes = 4096;

  static absl::StatusOr<std::shared_ptr<BufferSets>> Create(
      std::shared_ptr<const WorkloadCase> workload, int sets);
  ~MemfdBufferSets() override;

  int sets() const override { return sets_; }
  int64_t bytes() const override { return bytes_; }
  int64_t files() const override { return static_cast<int64_t>(buffers_.size()) + 1; }
  void SetCase(std::shared_ptr<const WorkloadCase> workload) override {
    workload_ = std::move(workload);
  }
  std::vector<MapPacket> Map(int sets) override;
  void Prepare(const std::vector<FilledSet>& calls, uint64_t poison_salt) override;
  std::unique_ptr<LateInputs> Withhold(const FilledSet& call, Rng* rng) override;
  std::unique_ptr<LateInputs> WithholdAll(const FilledSet& call,
                                          const FilledSet& stand_in) override;
  CallTurns* turns() override { return reinterpret_cast<CallTurns*>(turns_.base); }
  bool IsPending(int set, uint64_t poison_salt) const override {
    return UnwrittenOutput(set, poison_salt).has_value();
  }
  // The runner is stopped during this, so nothing needs to be copied.
  std::vector<CallFindings> Collect(const std::vector<FilledSet>& calls,
                                    uint64_t poison_salt) override;
  std::optional<std::string> FirstWritten(const std::vector<FilledSet>& calls,
                                          uint64_t poison_salt) override;
  void RememberPlaces(const std::vector<FilledSet>& calls, Rng* rng) override;
  std::optional<std::string> ChangedSinceRemembered() const override;
  void Wipe(const std::vector<FilledSet>& calls) override;
  std::optional<std::string> ChangedInput(const FilledSet& call) const override;
  std::vector<TensorComparison> Compare(int set, const SavedOutputs& oracle) const override;
  absl::StatusOr<std::shared_ptr<const SavedOutputs>> Save(int set) const override;

 private:
  struct Buffer {
    UniqueFd fd;
    std::byte* base = nullptr;
    int64_t file_bytes = 0;
  };

  // Makes a file of `bytes` that cannot shrink, and maps it.
  static absl::StatusOr<Buffer> MakeBuffer(const std::string& name, int64_t bytes);

  MemfdBufferSets(std::shared_ptr<const WorkloadCase> workload, int sets)
      : workload_(std::move(workload)), sets_(sets), guard_word_(RandomUint64()) {}
  const Buffer& buffer(int set, size_t tensor) const {
    return buffers_[static_cast<size_t>(set) * workload_->tensors().size() + tensor];
  }
  std::optional<std::string> BrokenGuard(int set) const;
  std::optional<std::string> UnwrittenOutput(int set, uint64_t poison_salt) const;
  uint64_t Fingerprint(int set) const;
  std::vector<std::byte*> Inputs(int set) const;
  std::byte* tensor_memory(int set, size_t tensor) const {
    return buffer(set, tensor).base + kGuardBytes;
  }

  std::shared_ptr<const WorkloadCase> workload_;
  const int sets_;
  const uint64_t guard_word_;
  std::vector<Buffer> buffers_;
  Buffer turns_;
  int64_t bytes_ = 0;
  // A place in an output, and its value when RememberPlaces chose it.
  struct Seen {
    size_t tensor;
    const std::byte* place;
    std::byte value;
  };
  std::vector<Seen> remembered_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HOST_MEMFD_BUFFER_SETS_H_
