#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_WORKLOAD_SESSION_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_WORKLOAD_SESSION_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/rng.h"
#include "gpu_worker/verifier/dialogue/call_sample.h"
#include "gpu_worker/verifier/dialogue/deliveries.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/compare.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// The reference's answer for one variant.
struct OracleEntry {
  std::shared_ptr<const SavedOutputs> outputs;
  absl::Duration reference_time;  // of the reference's call
};
// By variant. A candidate's outputs are compared for these variants; for others they only need to
// be written.
using OracleEntries = absl::flat_hash_map<int64_t, std::shared_ptr<const OracleEntry>>;

// Message for a timed call that did no work of its own; details follow it.
inline constexpr absl::string_view kStaleOutput =
    "a timed call returned the outputs of another call, whose inputs were different: ";

// Message for a timed call that is wrong where its inputs came late; details follow it.
inline constexpr absl::string_view kLateInputs =
    "in a timed call, a part of whose inputs came when calls before it were being made (a call may "
    "only do its own work): ";

// One runner on one workload: prepares buffers, requests calls, and judges the results.
// Thread-compatible.
class WorkloadSession {
 public:
  enum class Mode {
    kReference,  // trusted: nothing is compared
    kGate,       // wrong is INCORRECT
    kTimed,      // after the gate: a missing output is CHEAT
  };
  using Call = FilledSet;
  struct Batch {
    Ending ending;
    size_t calls = 0;
    // By the runner's clock, one per call; if it times a batch as a whole, the mean.
    std::vector<double> latency_us;
    std::vector<double> host_us;       // GPU: host time within each call, as the runner reported it
    bool queued = false;               // GPU, EVENTS: no call waited for the host
    absl::Duration inner;              // their sum
    absl::Duration audit;              // by the verifier's clock, including message and answer
    absl::Duration head_start;         // before it: RunnerLink::BatchReply
    absl::Duration waited;             // part of audit spent waiting for a core
    absl::Duration waited_for_others;  // the part that no thread of the runner can have caused
    absl::Duration other_threads;      // processor time of the runner's other threads
    absl::Duration lead_in;            // if the batch has one
    // From "done" until the outputs were checked. Work that is still running on the device delays
    // it.
    absl::Duration output_check;
  };
  struct Limits {
    absl::Duration call_time;
    absl::Time deadline;  // of the whole job
  };
  // A call whose outputs are judged later.
  struct Suspect {
    int64_t variant = 0;
    std::shared_ptr<const SavedOutputs> outputs;
    bool repeated = false;  // looked like another call's
    bool late = false;      // of RunWithLateInputs
  };

  WorkloadSession(RunnerLink& link, std::shared_ptr<const WorkloadCase> workload,
                  std::shared_ptr<BufferSets> buffers, const Clock& clock, uint64_t salt)
      : link_(link),
        workload_(std::move(workload)),
        buffers_(std::move(buffers)),
        clock_(clock),
        rng_(salt) {}

  // From now on, outputs are wiped once they are judged, because another runner sees the same sets.
  void WipeOutputs() { wipes_outputs_ = true; }

  // Maps the first `sets` sets into the runner. `workspace_fill` is the field of MapRequest.
  Ending Map(int sets, const Limits& limits, int workspace_fill = 0);

  // How calls are made. `mode` and `graph` are those of BatchRequest, for GPUs.
  struct BatchForm {
    v1::BatchRequest::Mode mode = v1::BatchRequest::MODE_UNSPECIFIED;
    int graph = 0;
    // Run RunnerLink::LeadIn before it, so that the switch from the verifier's context is not part
    // of the batch.
    bool lead_in = false;
    // The calls' inputs are written after the lead-in, not before it.
    bool inputs_last = false;
  };

  // Runs one batch. Sets must be distinct. `oracles` need not contain every variant.
  Batch Run(const std::vector<Call>& calls, Mode mode, const OracleEntries& oracles,
            const Limits& limits) {
    return Run(calls, mode, BatchForm(), oracles, limits);
  }
  Batch Run(const std::vector<Call>& calls, Mode mode, const BatchForm& form,
            const OracleEntries& oracles, const Limits& limits) {
    return Run(calls, mode, form, oracles, limits, nullptr);
  }

  // Runs a batch like a timed one, of at least two calls, whose time does not count. Part of the
  // inputs of one call other than the first is delivered only while, or after, the calls before it
  // are made. If it was delivered before that call began, *seen is true and the call's outputs join
  // suspects(): they are wrong if the program worked ahead. Does nothing if inputs cannot be
  // withheld (BufferSets::Withhold).
  Ending RunWithLateInputs(const std::vector<Call>& calls, const BatchForm& form,
                           const Limits& limits, bool* seen);

  // Runs a batch whose calls are released one by one: each call's inputs come once the call before
  // it has returned, so that a call can only do its own work. Between two calls the program stays
  // as ready as in any batch. Not for programs whose threads need every core: this process keeps
  // one. With `keeps_one`, a random call joins suspects(), unless nothing is to be compared later.
  struct TimesInTurn {
    Ending ending;
    // By this process' clock, from each call's release to its return. Empty if that cannot be done
    // here: calls cannot be released (BufferSets::turns), inputs cannot be withheld, or there is
    // only one core. Then no call was made.
    std::vector<double> us;
  };
  TimesInTurn RunInTurn(const std::vector<Call>& calls, const OracleEntries& oracles,
                        const Limits& limits, bool keeps_one);

  // Runs a batch like a timed one, whose time does not count, with inputs of `other`, a case of the
  // same workload. Only variants in `oracles` are compared.
  Ending RunWithCase(const std::shared_ptr<const WorkloadCase>& other,
                     const std::vector<Call>& calls, const BatchForm& form,
                     const OracleEntries& oracles, const Limits& limits);

  // How many of `sets` sets a timed batch should leave unused. Some of them become decoys: they are
  // prepared as if calls on them would follow, and must be unchanged afterwards. A program that
  // works ahead cannot tell them from the others by the arguments of its calls.
  static int Decoys(int sets) { return sets < 3 ? 0 : std::max(1, sets / 16); }

  // From now on, `count` random timed calls are chosen after they were made and join suspects(), in
  // place of those chosen before. 0: none.
  void CompareLater(int count);

  // How long checking the outputs of these calls takes on an idle device.
  absl::Duration CheckOutputs(const std::vector<Call>& calls);

  struct Recording {
    Ending ending;
    std::string reason;  // why the calls cannot be recorded; empty if they were
  };
  // GPU: records a call on each of these sets, and makes a chain of them for REPLAY. Run can replay
  // recorded sets in any order and selection: it first makes another chain, which takes half a
  // millisecond before the clock starts.
  Recording Record(const std::vector<int>& sets, int graph, const Limits& limits);

  // For a program that returns its outputs: how long it takes to copy them into place, which is
  // part of its calls. Measured on the latest results of the first set, by the runner's clock, so
  // nothing depends on it. Empty for a program that writes its outputs itself. `form` must have a
  // mode of single calls.
  struct Copies {
    Ending ending;
    std::vector<double> us;
  };
  Copies TimeCopies(const BatchForm& form, const Limits& limits);

  // Calls on the first set, timed in the way of the task's suite (BatchRequest.PREPARED), with the
  // same inputs every time. FillForSuite writes the inputs, a new variant, into at most the first
  // `sets` sets and returns the variant. Inputs and outputs are not checked afterwards. For a
  // program that returns its outputs, the times exclude copying them. All times are as the runner
  // reports them.
  struct SuiteCalls {
    Ending ending;
    std::vector<double> us;
  };
  int64_t FillForSuite(int sets = 2);
  SuiteCalls RunForSuite(int calls, const v1::BatchRequest::Preparation& preparation,
                         const Limits& limits);
  // The same, with one call on each of the first `sets` sets and no preparation.
  SuiteCalls RunOnEachForSuite(int sets, const Limits& limits);
  // One such call on inputs of a new variant, whose outputs are kept; absent if there is no room
  // for them.
  struct KeptCall {
    Ending ending;
    double us = 0;
    std::optional<Suspect> kept;
  };
  KeptCall RunOnceForSuite(const v1::BatchRequest::Preparation& preparation, const Limits& limits);

  // The worst of all comparisons so far; absent before the first.
  const std::optional<v1::Correctness>& correctness() const { return correctness_; }
  // The verdict by the rule of the task's suite on the gate's first calls, as many as the rule has
  // trials; absent if there is no rule or no such call. Other errors of these calls do not count.
  const std::optional<v1::SuiteVerdict>& suite_verdict() const { return suite_verdict_; }
  int compared() const { return compared_; }
  // Timed calls whose outputs must be compared with oracles of their variants once nothing is being
  // timed: at most kMaxSuspects whose outputs looked like another call's, and those chosen by
  // CompareLater.
  std::vector<Suspect> suspects() const;
  const WorkloadCase& workload() const { return *workload_; }
  // The outputs of a call of the last Run.
  absl::StatusOr<std::shared_ptr<const SavedOutputs>> Outputs(int set) const {
    return buffers_->Save(set);
  }

 private:
  Batch Run(const std::vector<Call>& calls, Mode mode, const BatchForm& form,
            const OracleEntries& oracles, const Limits& limits, Deliveries* late);
  Ending Judge(const std::vector<Call>& calls, const std::vector<CallFindings>& findings, Mode mode,
               const OracleEntries& oracles, const Deliveries* late);
  // Adds a call whose inputs came late to suspects().
  void KeepLate(const Call& call);
  // Returns true if the next call is a trial for the rule of the task's suite.
  bool IsTrial(Mode mode) const;
  std::optional<Suspect> MakeSuspect(const Call& call) const;
  void Sample(const std::vector<Call>& calls);
  // When calls must be done if they take no longer than those before them, with a margin.
  absl::Time BatchDeadline(size_t calls, Mode mode, const Limits& limits) const;
  Recording MakeChain(const std::vector<int>& sets, int graph, const Limits& limits);
  SuiteCalls RunPrepared(const v1::BatchRequest& request, const Limits& limits);
  // Sets that no call of `calls` uses: as many as Decoys says, or fewer if there are not enough.
  std::vector<Call> PickDecoys(const std::vector<Call>& calls);
  // Returns true if the outputs are those of an earlier call with other inputs.
  bool IsRepeated(const Call& call, uint64_t fingerprint, Mode mode);

  RunnerLink& link_;
  const std::shared_ptr<const WorkloadCase> workload_;
  const std::shared_ptr<BufferSets> buffers_;
  const Clock& clock_;
  Rng rng_;
  bool wipes_outputs_ = false;
  int mapped_sets_ = 0;
  int64_t decoys_made_ = 0;
  std::optional<v1::Correctness> correctness_;
  std::optional<v1::SuiteVerdict> suite_verdict_;
  int compared_ = 0;
  // For each call, the hash of its outputs' beginnings and its variant.
  absl::flat_hash_map<uint64_t, int64_t> seen_outputs_;
  std::vector<Suspect> repeated_;
  std::vector<Suspect> late_;
  CallSample sample_;
  std::vector<std::optional<Suspect>> sampled_;
  // Means of timed batches, 0 before the first.
  absl::Duration slowest_call_, last_call_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_WORKLOAD_SESSION_H_
