#ifndef KSEARCH_GPU_WORKER_SELFTEST_SELF_TEST_H_
#define KSEARCH_GPU_WORKER_SELFTEST_SELF_TEST_H_

#include <vector>

#include "gpu_worker/selftest/finding.h"
#include "proto/config.pb.h"

namespace ksearch {

// Checks by trying whether this machine can do what `config` asks of a worker: starts a sandbox,
// tries its limits, builds with every compiler, has a program judged on the processors, and
// examines every GPU. Takes some seconds. Switches to the config's account first, as the worker
// does, so it must be called from a process that does nothing else. Leaves no files except in the
// state folder; a worker that runs at the same time is not disturbed.
std::vector<Finding> RunSelfTest(const v1::WorkerConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SELFTEST_SELF_TEST_H_
