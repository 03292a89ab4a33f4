#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SECOND_WITNESS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SECOND_WITNESS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/instruments/instrument.h"
#include "gpu_worker/verifier/instruments/memory_check.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/result.pb.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// DelayedRuns.label of a candidate that passes although a tool reported an error.
inline constexpr char kRaceReported[] = "race_reported";
// The same for a candidate that no tool accuses, but whose outputs differ with delays, or that
// crashes.
inline constexpr char kDelaysMatter[] = "delays_matter";

struct WitnessCase {
  std::shared_ptr<const WorkloadCase> workload;
  const OracleEntries* oracles;  // of variants 0 .. kGateVariants - 1
};

struct SecondWitness {
  v1::DelayedRuns runs;
  // PASSED, with a label in `runs`; or INCORRECT, with a message that says how often and how the
  // outputs were wrong or differed.
  Ending ending;
  bool outputs_were_wrong = false;  // with delays or without
};

// Runs the candidate of a request that has passed the gate, on the first and the middle of `cases`
// (smallest first), within kWitnessTime: first calls without delays, to see whether its outputs
// repeat bit for bit, then kWitnessCalls with random delays at its barriers (request.delayed).
// These prove a race: wrong outputs, with or without delays; different outputs for the same inputs,
// unless those have an honest explanation; and a crash with delays (Ending.crashed) that recurs in
// a second process, if the program without delays makes as many calls and does not trap by itself
// (MentionsTraps). Calls that fail in another way (too slow with delays, too few registers for a
// launch) end the calls on that workload and prove nothing; `runs.note` names them, or says why
// there is no build with delays. No other runner may be alive. Non-OK is an error of this machine.
absl::StatusOr<SecondWitness> AskSecondWitness(Bench& bench, const v1::VerifierRequest& request,
                                               const ProgramImage& candidate,
                                               const std::vector<WitnessCase>& cases);

// Runs CheckMemory on the first of `cases`, with the line-table build if the request has one (only
// the cheap tools if the job is an EXAMINE). Then runs AskSecondWitness if a finding needs it, and
// in every confirmation that has a build with delays, because racecheck also misses races (a
// barrier of half a block on an H200, compute-sanitizer 2025.3.1). `ending` combines both, and the
// report has `delayed_runs`. For a program that no tool accuses, only wrong outputs with delays
// count.
absl::StatusOr<MemoryCheck> AskWitnesses(Bench& bench, const Instrument& sanitizer,
                                         const v1::VerifierRequest& request,
                                         const ProgramImage& candidate,
                                         const std::vector<WitnessCase>& cases);

// Returns true if the text of a program mentions atomic operations: it may then add numbers in any
// order, so differing outputs prove nothing.
bool MentionsAtomics(const v1::Sources& sources);

// Returns true if the text of a program mentions ways for a kernel to abort by itself, such as
// assertions and traps: a kernel that waits only a limited time for a barrier may abort when it is
// delayed, without being wrong.
bool MentionsTraps(const v1::Sources& sources);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SECOND_WITNESS_H_
