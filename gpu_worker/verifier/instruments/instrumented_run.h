#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENTED_RUN_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENTED_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/unique_fd.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
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

// Starts a runner under an instrument, in the sandbox without its tight filter, and makes calls of
// a candidate that has passed the gate. Several can be launched before the first one runs, so that
// they start at the same time. They run one after another, and no other runner may have a program
// loaded meanwhile.
class InstrumentedRunner {
 public:
  // Does not wait. Non-OK is an error of this machine. `bench` and `candidate` must outlive this.
  static absl::StatusOr<InstrumentedRunner> Launch(Bench& bench,
                                                   const InstrumentCommand& instrument,
                                                   const ProgramImage& candidate,
                                                   const v1::Limits& limits);

  // Makes `calls` calls, one after another. Their outputs are not checked. Call it once. Non-OK if
  // there is no memory for the buffers.
  absl::StatusOr<InstrumentedRun> Run(const std::shared_ptr<const WorkloadCase>& workload,
                                      int calls, absl::Time deadline, int64_t max_report_bytes);

 private:
  InstrumentedRunner(Bench& bench, const ProgramImage& candidate, UniqueFd report,
                     absl::StatusOr<std::unique_ptr<RunnerLink>> link)
      : bench_(&bench),
        candidate_(&candidate),
        report_(std::move(report)),
        link_(std::move(link)) {}

  Bench* bench_;
  const ProgramImage* candidate_;
  UniqueFd report_;
  absl::StatusOr<std::unique_ptr<RunnerLink>> link_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENTED_RUN_H_
