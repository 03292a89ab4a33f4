#ifndef KSEARCH_GPU_WORKER_SELFTEST_MACHINE_CHECKS_H_
#define KSEARCH_GPU_WORKER_SELFTEST_MACHINE_CHECKS_H_

#include <string>
#include <vector>

#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/selftest/finding.h"
#include "proto/config.pb.h"

namespace ksearch {

// Checks ksearch-verifier and ksearch-runner.
Finding CheckBinaries(const v1::WorkerConfig& config);
// Starts a program in the sandbox of `settings`, which is returned in `sandbox` if it works. Says
// which kernel setting forbids user namespaces.
Finding CheckSandbox(const v1::SandboxSettings& settings, std::unique_ptr<Sandbox>* sandbox);
Finding CheckCgroup(const Sandbox& sandbox);
// Checks the free space in the folders of results and builds, and in /tmp.
std::vector<Finding> CheckDisk(const std::string& state_dir);
// Builds an empty program with every toolchain of the config, in `folder`.
std::vector<Finding> CheckCompilers(const v1::WorkerConfig& config, const std::string& folder,
                                    Sandbox* sandbox);
// Checks that something listens at HOST:PORT or unix:PATH; waits at most 3 s.
Finding CheckCoordinator(const std::string& address);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SELFTEST_MACHINE_CHECKS_H_
