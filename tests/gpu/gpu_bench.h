#ifndef KSEARCH_TESTS_GPU_GPU_BENCH_H_
#define KSEARCH_TESTS_GPU_GPU_BENCH_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/verifier/cuda/verifier_device.h"
#include "gpu_worker/verifier/dialogue/runner_starter.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// A verifier's bench on the first GPU, for all tests of a process (one of a kind), and nvcc.
// KSEARCH_BWRAP names another bubblewrap, KSEARCH_GPU_FILTER is `sandbox.gpu_filter` of a worker's
// configuration; the account must not be root.
class GpuBench {
 public:
  // Without compute-sanitizer and ncu, or with those that are installed.
  enum class Instruments { kNone, kThoseThere };
  // Wraps the usual sandbox into the one that all runners use.
  using Around = std::function<std::unique_ptr<Sandbox>(std::unique_ptr<Sandbox>)>;
  explicit GpuBench(Instruments instruments, const Around& around = nullptr);
  // Why there is no bench; empty if there is one.
  const std::string& why_not() const { return why_not_; }
  Bench& bench() { return *bench_; }

  // Writes ksearch_task.h for what is built from now on.
  absl::Status UseTask(const v1::Task& task);
  // Builds a source into a shared object as a worker would; with the headers of the folder
  // KSEARCH_CUDA_HEADERS, if that is set.
  absl::StatusOr<v1::Artifact> Build(const std::string& path);
  // The same with delays at its barriers.
  absl::StatusOr<v1::Artifact> BuildDelayed(const std::string& path);

 private:
  absl::Status Open(Instruments instruments, const Around& around);
  // The command that makes `object`; nvcc's intermediate files go to `folder`.
  std::string Command(const std::string& path, const std::string& object,
                      const std::string& folder) const;

  std::string why_not_;
  std::string nvcc_;
  std::shared_ptr<VerifierDevice> device_;
  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<RunnerStarter> starter_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_GPU_BENCH_H_
