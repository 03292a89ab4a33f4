#ifndef KSEARCH_GPU_WORKER_SANDBOX_SANDBOX_FACTORY_H_
#define KSEARCH_GPU_WORKER_SANDBOX_SANDBOX_FACTORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "proto/config.pb.h"

namespace ksearch {

// Makes the sandbox for these settings, after one trial. NOT_FOUND without bubblewrap, UNAVAILABLE
// if the machine cannot make one, or if `cgroup: "required"` cannot be met; INVALID_ARGUMENT for an
// unknown value.
absl::StatusOr<std::unique_ptr<Sandbox>> MakeSandbox(const v1::SandboxSettings& settings);

// A spec with the limits of `settings` (defaults: config.proto) filled in.
SandboxSpec SpecFromSettings(const v1::SandboxSettings& settings);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_SANDBOX_FACTORY_H_
