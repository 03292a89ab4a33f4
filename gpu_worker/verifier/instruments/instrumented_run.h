#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENTED_RUN_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENTED_RUN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/instruments/instrument.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/job.pb.h"

namespace ksearch {

// The findings of an instrument. They cannot be trusted, because the instrument shares a process
// with the candidate.
struct InstrumentedRun {
  std::string report;  // as the instrument wrote it, at most `max_report_bytes`
  std::string output;  // output of candidate and instrument, cleaned; at most 2 KiB
  // Why there is no complete report: the instrument did not start, a call failed, or time ran out.
  // Empty if everything completed.
  std::string trouble;
};

// Runs `calls` calls of a candidate that has passed the gate, one after another under an
// instrument, in the sandbox without its tight filter. Their outputs are not checked. No other
// runner may be alive. Non-OK if there is no memory for the buffers.
absl::StatusOr<InstrumentedRun> RunInstrumented(Bench& bench, const InstrumentCommand& instrument,
                                                const ProgramImage& candidate,
                                                const std::shared_ptr<const WorkloadCase>& workload,
                                                int calls, const v1::Limits& limits,
                                                absl::Time deadline, int64_t max_report_bytes);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENTED_RUN_H_
