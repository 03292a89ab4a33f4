#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_CANDIDATE_PROFILE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_CANDIDATE_PROFILE_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/instruments/instrument.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/job.pb.h"
#include "proto/profile.pb.h"
#include "proto/runner.pb.h"

namespace ksearch {

// ncu around a runner: it sees the kernels between cuProfilerStart and cuProfilerStop.
InstrumentCommand ProfilerCommand(const Instrument& profiler);

// Profiles one call of a candidate with ncu (the second call, to exclude the setup done by the
// first). Any failure is reported in `absence` and note. No other runner may be alive. Non-OK if
// there is no memory for the buffers.
absl::StatusOr<v1::Profile> ProfileCandidate(Bench& bench, const Instrument& profiler,
                                             const ProgramImage& candidate,
                                             const std::shared_ptr<const WorkloadCase>& workload,
                                             const v1::Limits& limits);

// Carries out a request of JOB_KIND_PROFILE. Calls `begins` once a profiler has been found. Non-OK
// if the request names no workload of the task, or as for ProfileCandidate.
absl::StatusOr<v1::Verdict> CarryOutProfile(Bench& bench, const v1::VerifierRequest& request,
                                            const std::function<void()>& begins);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_CANDIDATE_PROFILE_H_
