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
#include "common/call_turns.h"
#include "common/rng.h"
#include "gpu_worker/verifier/tensors/late_inputs.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "proto/runner.pb.h"

namespace ksearch {

// One MAP message and its descriptors, which the BufferSets continues to own.
struct MapPacket {
  v1::MapRequest request;
  std::vector<int> fds;
  // The descriptors are files. They are reopened for each runner, because the shared offset of an
  // open file would let one process leave a mark for another.
  bool files = false;
};

// One call of a batch, with the inputs of `variant` in set `set`. The sets of a batch are distinct.
struct FilledSet {
  int set = 0;
  int64_t variant = 0;
};

// The element-wise difference between one output and the oracle's; the rules are in compare.h.
struct TensorComparison {
  double max_abs = 0;  // over elements that are finite on both sides
  double max_rel = 0;
  int64_t wrong = 0;
  int64_t first_wrong = -1;  // flat index
  double first_got = 0;
  double first_expected = 0;
  double error_squares = 0;
  double oracle_squares = 0;
  // The number of infinite or NaN elements of the candidate's output; counted only under a suite's
  // rule.
  int64_t non_finite = 0;
  int64_t wrong_non_finite = 0;  // those where the oracle's element is finite; always counted
  int64_t wrong_by_suite = 0;  // by the rule of the task's suite (suite_verdict.h), if there is one
};

// The outputs of one call, copied to memory that no runner sees. Immutable.
class SavedOutputs {
 public:
  virtual ~SavedOutputs() = default;
  virtual int64_t bytes() const = 0;
  // One comparison per output. `oracle` is of the same workload and from the same class of memory.
  virtual std::vector<TensorComparison> CompareWith(const WorkloadCase& workload,
                                                    const SavedOutputs& oracle) const = 0;
  // The bytes of every output, in definition order, in this process' memory.
  virtual absl::StatusOr<std::vector<std::vector<std::byte>>> ToHost() const = 0;
  // The address of output `index` in this process's memory or on the device. The other one is null.
  virtual const std::byte* on_host(size_t /*index*/) const { return nullptr; }
  virtual uint64_t on_device(size_t /*index*/) const { return 0; }
  // Copies output `index` to this process' memory.
  virtual absl::Status Read(size_t index, std::byte* out) const = 0;
  // Returns true if they are equal byte for byte. `other` is of the same workload and from the same
  // class of memory.
  virtual bool Equals(const SavedOutputs& other) const = 0;
};

// Properties of a call that can be checked without knowing the right answer.
struct CallFindings {
  std::string unwritten;     // the first output that still shows its poison; empty if none does
  std::string broken_guard;  // a sentence about the first guard band that changed; empty if none
  uint64_t fingerprint = 0;  // of the outputs' beginnings: differs where they differ
};

// Memory that verifier and runner share for one workload: `sets` sets of its tensors, each tensor
// between guard bands. Implementations: memfds for CPUs; for GPUs, device memory exported by
// descriptor, where device errors are reported by Bench::Options::device_health. All calls are
// synchronous. Thread-compatible.
class BufferSets {
 public:
  virtual ~BufferSets() = default;
  virtual int sets() const = 0;
  virtual int64_t bytes() const = 0;           // all of it, guard bands too
  virtual int64_t files() const { return 0; }  // open in this process, as long as it lives
  // Switches to this case, whose tensors have the same sizes (another seed).
  virtual void SetCase(std::shared_ptr<const WorkloadCase> workload) = 0;
  // Prepares the first `sets` sets for a new runner: rewrites their guard bands, and wipes what
  // another program may have left there: right answers for the same variants and, on CPUs, inputs,
  // which reveal the variants that are compared.
  virtual std::vector<MapPacket> Map(int sets) = 0;
  // Writes inputs and poisons outputs, in the order in which the calls will be made.
  virtual void Prepare(const std::vector<FilledSet>& calls, uint64_t poison_salt) = 0;
  // After Prepare: withholds a part of this call's inputs, to be delivered while the runner is
  // working. Null if no input can be withheld.
  virtual std::unique_ptr<LateInputs> Withhold(const FilledSet&, Rng*) { return nullptr; }
  // The same for all of this call's inputs that differ from call to call. Until they are delivered,
  // its set holds copies of those in the set of `stand_in`, another prepared call.
  virtual std::unique_ptr<LateInputs> WithholdAll(const FilledSet& /*call*/,
                                                  const FilledSet& /*stand_in*/) {
    return nullptr;
  }
  // The page through which a runner's calls are released, which Map shares with it. Null if calls
  // cannot be released one by one.
  virtual CallTurns* turns() { return nullptr; }
  // For a prepared call, while the runner is working: whether its outputs still show their poison,
  // which means that the call has not returned yet. False proves nothing.
  virtual bool IsPending(int, uint64_t) const { return false; }
  // To be called right after the calls: checks them in their order. Compare and Save use the
  // outputs as of now, whatever a runner may write later.
  virtual std::vector<CallFindings> Collect(const std::vector<FilledSet>& calls,
                                            uint64_t poison_salt) = 0;
  // For calls that were prepared but not made: the name of the first output that has changed since
  // Prepare. The outputs of other calls must be as Collect left them.
  virtual std::optional<std::string> FirstWritten(const std::vector<FilledSet>& calls,
                                                  uint64_t poison_salt) = 0;
  // To be called right after some of the prepared calls, before Collect: remembers the values at
  // some places of their outputs, chosen by `rng`, until the next Prepare. ChangedSinceRemembered
  // then names the first output whose value at such a place has changed, because something was
  // still writing to it. For memory that Collect does not copy; otherwise both do nothing.
  virtual void RememberPlaces(const std::vector<FilledSet>&, Rng*) {}
  virtual std::optional<std::string> ChangedSinceRemembered() const { return std::nullopt; }
  // Overwrites the outputs of these calls, so that no other runner finds them. Compare and Save
  // must not be used for them afterwards.
  virtual void Wipe(const std::vector<FilledSet>& calls) = 0;
  // The first input that is no longer what Prepare wrote.
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
