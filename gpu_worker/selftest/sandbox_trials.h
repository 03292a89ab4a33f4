#ifndef KSEARCH_GPU_WORKER_SELFTEST_SANDBOX_TRIALS_H_
#define KSEARCH_GPU_WORKER_SELFTEST_SANDBOX_TRIALS_H_

#include "absl/time/time.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/selftest/finding.h"
#include "proto/config.pb.h"

namespace ksearch {

// Checks the confinement that a program in the sandbox can see: which namespaces are its own, and
// whether it has capabilities, may gain any, and runs under a system call filter. WARN if something
// is missing.
Finding TryIsolation(const v1::SandboxSettings& settings, Sandbox* sandbox);

// Checks that each limit ends a program that exceeds it: memory, processor time, size of files,
// processes, /tmp. Takes about 2 s, and `patience` more for a limit that does not hold. FAIL names
// those.
Finding TryLimits(const v1::SandboxSettings& settings, Sandbox* sandbox,
                  absl::Duration patience = absl::Seconds(30));

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SELFTEST_SANDBOX_TRIALS_H_
