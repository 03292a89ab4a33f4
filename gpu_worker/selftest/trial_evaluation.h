#ifndef KSEARCH_GPU_WORKER_SELFTEST_TRIAL_EVALUATION_H_
#define KSEARCH_GPU_WORKER_SELFTEST_TRIAL_EVALUATION_H_

#include <string>

#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/selftest/finding.h"
#include "proto/config.pb.h"

namespace ksearch {

// Builds, checks and times a small program on the processors, as for a job in the config's sandbox,
// and reports the protections. Waits up to a minute for a worker that is measuring on them. Writes
// files only in `folder`. `sandbox` is borrowed.
Finding TryEvaluation(const v1::WorkerConfig& config, const std::string& folder, Sandbox* sandbox);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SELFTEST_TRIAL_EVALUATION_H_
