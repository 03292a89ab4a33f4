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
#include "common/rng.h"
#include "gpu_worker/verifier/tensors/late_inputs.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "proto/runner.pb.h"

namespace ksearch {

// One MAP message and its descriptors, which stay owned by the BufferSets.
struct MapPacket {
  v1::MapRequest request;
  std::vector<int> fds;
  // They are files: each runner gets them opened anew, since what processes share of an open file
  // (its offset) would tell one of them of another.
  bool files = false;
};

// One call of a batch: inputs of `variant` in set `set`. The sets of a batch are distinct.
struct FilledSet {
  int set = 0;
  int64_t variant = 0;
};

// How far one output is from the oracle's, element by element; the rules are in compare.h.
struct TensorComparison {
  double max_abs = 0;  // over elements that are finite on both sides
  double max_rel = 0;
  int64_t wrong = 0;
  int64_t first_wrong = -1;  // flat index
  double first_got = 0;
  double first_expected = 0;
  double error_squares = 0;
  double oracle_squares = 0;
  // Elements of the candidate's that are infinite or NaN; counted under a suite's rule.
  int64_t non_finite = 0;
  int64_t wrong_non_finite = 0;  // such where the oracle's are finite; always counted
  int64_t wrong_by_suite = 0;  // by the rule of the task's suite (suite_verdict.h), if there is one
};

// The outputs of one call, copied to where no runner sees them. Immutable.
class SavedOutputs {
 public:
  virtual ~SavedOutputs() = default;
  virtual int64_t bytes() const = 0;
  // One comparison per output. `oracle` is of the same workload and from the same class of memory.
  virtual std::vector<TensorComparison> CompareWith(const WorkloadCase& workload,
                                                    const SavedOutputs& oracle) const = 0;
  // The bytes of every output, in definition order, in this process' memory.
  virtual absl::StatusOr<std::vector<std::vector<std::byte>>> ToHost() const = 0;
  // Output `index` where it is: in this process' memory, or at an address of the device's. The
  // other one is null.
  virtual const std::byte* on_host(size_t /*index*/) const { return nullptr; }
  virtual uint64_t on_device(size_t /*index*/) const { return 0; }
  // Copies output `index` to this process' memory.
  virtual absl::Status Read(size_t index, std::byte* out) const = 0;
  // Whether they are the same to the byte. `other` is of the same workload and from the same class
  // of memory.
  virtual bool Equals(const SavedOutputs& other) const = 0;
};

// What is seen of a call without knowing the right answer.
struct CallFindings {
  std::string unwritten;     // the first output that still shows its poison; empty if none does
  std::string broken_guard;  // a sentence about the first guard band that changed; empty if none
  uint64_t fingerprint = 0;  // of the outputs' beginnings: differs where they differ
};

// Memory that verifier and runner share for one workload: `sets` sets of its tensors, each tensor
// between guard bands. Implementations: memfd for CPU; device memory exported by descriptor for
// GPUs, where trouble of the device shows in Bench::Options::device_health. All calls return when
// they are done. Thread-compatible.
class BufferSets {
 public:
  virtual ~BufferSets() = default;
  virtual int sets() const = 0;
  virtual int64_t bytes() const = 0;  // all of it, guard bands too
  // From now on for this case, whose tensors have the same sizes (another seed).
  virtual void SetCase(std::shared_ptr<const WorkloadCase> workload) = 0;
  // For a runner that is to see the first `sets` sets: rewrites their guard bands, and wipes
  // what another program may have left: right answers to the same variants, and on processors
  // inputs, which tell which variants are compared.
  virtual std::vector<MapPacket> Map(int sets) = 0;
  // Writes inputs and poisons outputs, in the order in which the calls will come.
  virtual void Prepare(const std::vector<FilledSet>& calls, uint64_t poison_salt) = 0;
  // After Prepare: leaves a part of this call's inputs out, to be delivered while the runner is at
  // work. Null if none of them can be.
  virtual std::unique_ptr<LateInputs> Withhold(const FilledSet&, Rng*) { return nullptr; }
  // For a call that was prepared, while the runner is at work: whether its outputs still show their
  // poison, so that it has not returned yet. False tells nothing.
  virtual bool IsPending(int, uint64_t) const { return false; }
  // Right after the calls: looks them over, in their order. Compare and Save go by the outputs as
  // they are now, whatever a runner may still write.
  virtual std::vector<CallFindings> Collect(const std::vector<FilledSet>& calls,
                                            uint64_t poison_salt) = 0;
  // For calls that were prepared but not made: the first output, by name, that is not as Prepare
  // left it. The outputs of other calls are as Collect left them.
  virtual std::optional<std::string> FirstWritten(const std::vector<FilledSet>& calls,
                                                  uint64_t poison_salt) = 0;
  // Right after the calls, before Collect: remembers some places of their outputs, which `rng`
  // chooses. ChangedSinceGlance names the first output that shows something else there by now:
  // somebody went on working on it. For memory that Collect does not copy; else they do nothing.
  virtual void Glance(const std::vector<FilledSet>&, Rng*) {}
  virtual std::optional<std::string> ChangedSinceGlance() const { return std::nullopt; }
  // Overwrites the outputs of these calls, so that no other runner finds them there. Compare and
  // Save may have them no longer.
  virtual void Wipe(const std::vector<FilledSet>& calls) = 0;
  // The first input that no longer is what Prepare wrote.
  virtual std::optional<std::string> ChangedInput(const FilledSet& call) const = 0;
  // The outputs of a collected call against the oracle's, one comparison per output.
  virtual std::vector<TensorComparison> Compare(int set, const SavedOutputs& oracle) const = 0;
  // A copy of the outputs of a collected call. RESOURCE_EXHAUSTED if there is no room for it.
  virtual absl::StatusOr<std::shared_ptr<const SavedOutputs>> Save(int set) const = 0;
};

// Allocates; RESOURCE_EXHAUSTED if there is not enough memory.
using BufferSetsFactory = std::function<absl::StatusOr<std::shared_ptr<BufferSets>>(
    std::shared_ptr<const WorkloadCase>, int sets)>;

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_BUFFER_SETS_H_
