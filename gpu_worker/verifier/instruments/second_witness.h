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

// DelayedRuns.label of a result that stands although a tool reported an error.
inline constexpr char kRaceReported[] = "race_reported";
// The same of one that no tool accuses, and whose outputs differ with delays, or that crashes.
inline constexpr char kDelaysMatter[] = "delays_matter";

struct WitnessCase {
  std::shared_ptr<const WorkloadCase> workload;
  const OracleEntries* oracles;  // of variants 0 .. kGateVariants - 1
};

struct SecondWitness {
  v1::DelayedRuns runs;
  // PASSED, with a label in `runs`; or INCORRECT, and the message says how often and how the
  // outputs were wrong or differed.
  Ending ending;
  bool outputs_were_wrong = false;  // with delays or without
};

// Has the candidate of a request, which passed the gate, make calls
// without delays, to see whether it repeats itself bit for bit, and then kWitnessCalls with random
// delays at its barriers (request.delayed), on the first of `cases`, smallest first, and the middle
// one, within kWitnessTime. Wrong outputs, with delays or without, and different ones for the same
// inputs where that means something, are a race that was seen at work. So is a crash with delays
// (Ending.crashed) that comes again in a second process, if the program without delays makes as
// many calls and does not trap by itself (MentionsTraps). Calls that fail otherwise (too slow with
// delays, too few registers for a launch) end the calls on that workload and say nothing;
// `runs.note` names them, or why there is no build with delays. No other runner may be alive.
// Non-OK is trouble of this machine.
absl::StatusOr<SecondWitness> AskSecondWitness(Bench& bench, const v1::VerifierRequest& request,
                                               const ProgramImage& candidate,
                                               const std::vector<WitnessCase>& cases);

// CheckMemory on the first of `cases`, of the build with a line table where the request has it
// (cheap if the job is an EXAMINE), and AskSecondWitness where that needs it, and in every
// confirmation with a build with delays: racecheck misses races, too (a barrier of half a block on
// an H200, compute-sanitizer 2025.3.1). `ending` is what both mean, the report has `delayed_runs`.
// For a program that no tool accuses, only wrong outputs with delays count.
absl::StatusOr<MemoryCheck> AskWitnesses(Bench& bench, const Instrument& sanitizer,
                                         const v1::VerifierRequest& request,
                                         const ProgramImage& candidate,
                                         const std::vector<WitnessCase>& cases);

// Whether the text of a program mentions atomic operations: it may add numbers in whatever order
// its threads come, and outputs that differ prove nothing.
bool MentionsAtomics(const v1::Sources& sources);

// Whether the text of a program mentions ways for a kernel to give up by itself, such as assertions
// and traps: one that waits only so long for a barrier gives up when it is delayed, without being
// wrong.
bool MentionsTraps(const v1::Sources& sources);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SECOND_WITNESS_H_
