#ifndef KSEARCH_GPU_WORKER_BUILD_TOOLCHAIN_FACTORY_H_
#define KSEARCH_GPU_WORKER_BUILD_TOOLCHAIN_FACTORY_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/build/builder.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "proto/config.pb.h"

namespace ksearch {

using Toolchains = std::map<v1::Language, std::unique_ptr<Builder>>;

// Makes one cached builder per toolchain of `config` (default: g++), with its files below
// `state_dir`. INVALID_ARGUMENT for a language without a toolchain or named twice; errors name the
// toolchain. `sandbox` is borrowed.
absl::StatusOr<Toolchains> MakeToolchains(const v1::WorkerConfig& config,
                                          const std::string& state_dir, Sandbox* sandbox);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_TOOLCHAIN_FACTORY_H_
