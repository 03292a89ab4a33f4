#ifndef KSEARCH_GPU_WORKER_SELFTEST_SELF_TEST_H_
#define KSEARCH_GPU_WORKER_SELFTEST_SELF_TEST_H_

#include <vector>

#include "gpu_worker/selftest/finding.h"
#include "proto/config.pb.h"

namespace ksearch {

// Whether this machine can do what `config` asks of a worker, by trying it: starts a sandbox,
// tries its limits, builds with every compiler, has a program judged on the processors, looks at
// every GPU. Takes some seconds. Becomes the config's account first, as the worker does, so call it
// from a process that does nothing else. Files are left nowhere but for the state folder itself; a
// worker running beside it is not disturbed.
std::vector<Finding> RunSelfTest(const v1::WorkerConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SELFTEST_SELF_TEST_H_
