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
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/compare.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// What the reference answers to one variant.
struct OracleEntry {
  std::shared_ptr<const SavedOutputs> outputs;
  absl::Duration reference_time;  // of the reference's call
};
// By variant. A candidate's outputs are compared for these; other variants only need to be written.
using OracleEntries = absl::flat_hash_map<int64_t, std::shared_ptr<const OracleEntry>>;

// Said of a timed call that did no work of its own; what is wrong follows.
inline constexpr absl::string_view kStaleOutput =
    "a timed call returned the outputs of another call, whose inputs were different: ";

// Said of a timed call that is wrong where its inputs came late; what is wrong follows.
inline constexpr absl::string_view kLateInputs =
    "in a timed call, a part of whose inputs came when calls before it were being made (a call may "
    "only do its own work): ";

// One runner on one workload: prepares buffers, has calls made, and judges the results.
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
    // By the runner's clock, one per call; where it has one clock for all of them, their mean.
    std::vector<double> latency_us;
    std::vector<double> host_us;  // GPU: time of the host within each call, by the runner's word
    bool queued = false;          // GPU, EVENTS: no call waited for the host
    absl::Duration inner;         // their sum
    absl::Duration audit;         // by the verifier's clock, message and answer included
    absl::Duration head_start;    // before it: RunnerLink::BatchReply
    absl::Duration waited;        // part of audit spent waiting for a core
    absl::Duration waited_for_others;  // part of that which no thread of the runner can have caused
    absl::Duration lead_in;            // of a batch that has one
    // From "done" until the outputs were checked. Work that still has the device delays it.
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

  // From now on outputs are wiped once they are judged: another runner sees the same sets.
  void WipeOutputs() { wipes_outputs_ = true; }

  // Shows the first `sets` sets to the runner. `workspace_fill`: MapRequest's.
  Ending Map(int sets, const Limits& limits, int workspace_fill = 0);

  // How a GPU makes the calls; the words are BatchRequest's.
  struct BatchForm {
    v1::BatchRequest::Mode mode = v1::BatchRequest::MODE_UNSPECIFIED;
    int graph = 0;
    // RunnerLink::LeadIn before it: the switch from the verifier's context is no part of the batch.
    bool lead_in = false;
  };

  // One batch. Sets are distinct. `oracles` may lack any variant.
  Batch Run(const std::vector<Call>& calls, Mode mode, const OracleEntries& oracles,
            const Limits& limits) {
    return Run(calls, mode, BatchForm(), oracles, limits);
  }
  Batch Run(const std::vector<Call>& calls, Mode mode, const BatchForm& form,
            const OracleEntries& oracles, const Limits& limits) {
    return Run(calls, mode, form, oracles, limits, nullptr);
  }

  // A timed batch of at least two calls whose time does not count: a part of the inputs of one call
  // after the first comes when calls before it are being made, or have been. If the runner was
  // early enough at that, which *seen tells, the outputs of that call join suspects(): they are
  // wrong where work was done ahead. Where inputs cannot come late (BufferSets::Withhold) nothing
  // is done.
  Ending RunWithLateInputs(const std::vector<Call>& calls, const BatchForm& form,
                           const Limits& limits, bool* seen);

  // A batch like a timed one, whose time does not count, with inputs of `other`, a case of the same
  // workload. Only what `oracles` have is compared.
  Ending RunWithCase(const std::shared_ptr<const WorkloadCase>& other,
                     const std::vector<Call>& calls, const BatchForm& form,
                     const OracleEntries& oracles, const Limits& limits);

  // How many sets a timed batch should leave out, of `sets`: some of these are prepared as if calls
  // on them would come, and must be as they were afterwards. A program that does the work of calls
  // ahead cannot tell them from the others by what calls are given.
  static int Decoys(int sets) { return sets < 3 ? 0 : std::max(1, sets / 16); }

  // From now on `count` of the timed calls, any of them, are chosen after they were made and join
  // suspects(); those chosen before no longer do. 0: none.
  void CompareLater(int count);

  // What checking the outputs of these calls takes if nothing is at work.
  absl::Duration CheckOutputs(const std::vector<Call>& calls);

  struct Recording {
    Ending ending;
    std::string reason;  // why the calls cannot be recorded; empty: they were
  };
  // GPU: records a call on each of these sets, and makes a chain of them for REPLAY. Run replays
  // any other order, and any other selection, of sets that are recorded: it makes another chain
  // first, in half a millisecond before the clock starts.
  Recording Record(const std::vector<int>& sets, int graph, const Limits& limits);

  // What copying the results of a program that returns its outputs into their place takes, which is
  // a part of its calls: on results of the first set that were made just before. By the runner's
  // clock and word, so it decides nothing. Empty of a program that writes its outputs itself. In
  // the mode of `form`, which is one of single calls.
  struct Copies {
    Ending ending;
    std::vector<double> us;
  };
  Copies TimeCopies(const BatchForm& form, const Limits& limits);

  // Calls on the first set as the task's suite times them (BatchRequest.PREPARED), with the same
  // inputs every time: those of a variant that nobody had before, which FillForSuite puts into the
  // first sets, at most `sets`, and returns. Nobody looks at inputs and outputs afterwards. Of a
  // program that returns its outputs the times are without copying them. By the runner's clock and
  // word.
  struct SuiteCalls {
    Ending ending;
    std::vector<double> us;
  };
  int64_t FillForSuite(int sets = 2);
  SuiteCalls RunForSuite(int calls, const v1::BatchRequest::Preparation& preparation,
                         const Limits& limits);
  // The same, one call on each of the first `sets` sets, with nothing before them.
  SuiteCalls RunOnEachForSuite(int sets, const Limits& limits);
  // One such call, on inputs of a variant that nobody had before, whose outputs are kept: absent if
  // there is no room for them.
  struct KeptCall {
    Ending ending;
    double us = 0;
    std::optional<Suspect> kept;
  };
  KeptCall RunOnceForSuite(const v1::BatchRequest::Preparation& preparation, const Limits& limits);

  // The worst of all comparisons so far; absent before the first.
  const std::optional<v1::Correctness>& correctness() const { return correctness_; }
  // By the rule of the task's suite, of the gate's first calls, as many as are its trials; absent
  // where there is no rule or no such call. Whatever else is wrong with them does not count.
  const std::optional<v1::SuiteVerdict>& suite_verdict() const { return suite_verdict_; }
  int compared() const { return compared_; }
  // Timed calls whose outputs are to be compared with oracles of their variants once nothing is
  // being timed: at most kMaxSuspects that looked like another call's, and what CompareLater chose.
  std::vector<Suspect> suspects() const;
  const WorkloadCase& workload() const { return *workload_; }
  // A call of the last Run.
  absl::StatusOr<std::shared_ptr<const SavedOutputs>> Outputs(int set) const {
    return buffers_->Save(set);
  }

 private:
  // A call whose inputs come late.
  struct LateCall {
    size_t place = 0;        // in the batch, above 0
    size_t done = 0;         // this many calls return first, fewer than `place`
    absl::Duration further;  // and so much time passes then
    std::unique_ptr<LateInputs> inputs;
    bool in_time = false;  // they came before the call can have begun
  };

  Batch Run(const std::vector<Call>& calls, Mode mode, const BatchForm& form,
            const OracleEntries& oracles, const Limits& limits, LateCall* late);
  // While the runner makes these calls.
  void Deliver(const std::vector<Call>& calls, uint64_t salt, absl::Time deadline, LateCall* late);
  Ending Judge(const std::vector<Call>& calls, const std::vector<CallFindings>& findings, Mode mode,
               const OracleEntries& oracles);
  // Whether another call is a trial of the task's suite.
  bool IsTrial(Mode mode) const;
  std::optional<Suspect> MakeSuspect(const Call& call) const;
  void Sample(const std::vector<Call>& calls);
  // By when calls that take no longer than those before them are certainly done.
  absl::Time BatchDeadline(size_t calls, Mode mode, const Limits& limits) const;
  Recording MakeChain(const std::vector<int>& sets, int graph, const Limits& limits);
  SuiteCalls RunPrepared(const v1::BatchRequest& request, const Limits& limits);
  // Sets that no call of `calls` uses, as many as Decoys says or as there are.
  std::vector<Call> PickDecoys(const std::vector<Call>& calls);
  // Whether the outputs are those of an earlier call with other inputs.
  bool IsRepeated(const Call& call, uint64_t fingerprint, Mode mode);

  RunnerLink& link_;
  const std::shared_ptr<const WorkloadCase> workload_;
  const std::shared_ptr<BufferSets> buffers_;
  const Clock& clock_;
  Rng rng_;
  bool wipes_outputs_ = false;
  int mapped_sets_ = 0;
  int64_t decoys_made_ = 0;
  absl::flat_hash_map<int, std::vector<int>> chains_;  // by number: the sets in their order
  std::optional<v1::Correctness> correctness_;
  std::optional<v1::SuiteVerdict> suite_verdict_;
  int compared_ = 0;
  // Beginnings of the outputs of every call, by hash, with the variant they came from.
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
