#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_TOOLCHAIN_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_TOOLCHAIN_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/build/builder.h"
#include "gpu_worker/build/compile/build_folder.h"
#include "gpu_worker/build/compile/compile_step.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// Builds CUDA candidates with nvcc inside the sandbox: machine code for one architecture and a host
// part with the CUDA runtime linked in, in one shared object. No PTX is kept, so that exactly the
// built code runs. Sources can include only the task's header, ksearch_cuda.h and the toolkit. A
// delayed build runs nvcc's commands one by one and rewrites the PTX in between.
class NvccToolchain : public Builder {
 public:
  struct Options {
    std::string compiler_path;       // empty: nvcc on PATH, otherwise in /usr/local/cuda
    std::string host_compiler_path;  // empty: g++ on PATH
    std::string architecture;        // for requests that name none; empty: kDefaultArchitecture
    std::vector<std::string> extra_flags;  // appended
    std::string work_dir;      // created if missing; its "build-*" folders belong to this object
    SandboxSpec sandbox_spec;  // the limits that jobs do not set
    bool trial_build = true;   // Create builds an empty kernel as a test
  };
  static constexpr char kDefaultArchitecture[] = "sm_90a";

  // NOT_FOUND names a missing compiler, INVALID_ARGUMENT an architecture that this nvcc does not
  // support; FAILED_PRECONDITION says why an empty kernel cannot be built (for example because the
  // host compiler is too new for this nvcc). `sandbox` is borrowed.
  static absl::StatusOr<std::unique_ptr<NvccToolchain>> Create(Options options, Sandbox* sandbox);

  // FAILED_PRECONDITION for an architecture that this nvcc does not support.
  absl::StatusOr<BuildResult> Build(const BuildRequest& request, std::stop_token stop) override;
  std::string fingerprint() const override { return fingerprint_; }
  // "nvcc release 13.0, V13.0.88; g++ (Debian ...); header 0123abcd", and extra flags if there are
  // any. The header is ksearch_cuda.h: a program may need its newest parts.
  std::string toolkit() const override;
  std::vector<std::string> architectures() const override {
    return {compiler_.architectures.begin(), compiler_.architectures.end()};
  }

 private:
  struct Compiler {
    std::string path;                      // real path
    std::string host_path;                 // real path
    std::string disassembler_path;         // cuobjdump; empty if there is none
    std::string version_line;              // e.g. "nvcc release 13.0, V13.0.88; g++ (Debian ...)"
    std::set<std::string> architectures;   // e.g. "sm_90", "sm_90a"
    std::vector<SandboxSpec::Bind> binds;  // the toolkit, if the sandbox does not have it
  };
  NvccToolchain(Options options, Sandbox* sandbox, Compiler compiler, std::string fingerprint,
                std::unique_ptr<BuildFolders> folders)
      : options_(std::move(options)),
        sandbox_(sandbox),
        compiler_(std::move(compiler)),
        fingerprint_(std::move(fingerprint)),
        folders_(std::move(folders)) {}
  static absl::StatusOr<Compiler> FindTools(const Options& options);
  absl::Status CheckArchitecture(const std::string& architecture) const;
  absl::Status TrialBuild();
  std::vector<std::string> Flags(const std::string& architecture) const;
  // Runs `spec`, a complete nvcc command, in two parts, and adds delays to the PTX in between.
  absl::StatusOr<CompilerRun> RunWithDelays(const SandboxSpec& spec, const BuildFolder& folder,
                                            absl::Time deadline, std::stop_token stop);
  // Counts the instructions of the object's kernels, if there is a disassembler and enough time.
  void AddSassFacts(const BuildFolder& folder, const BuildRequest& request, absl::Time deadline,
                    std::stop_token stop, const std::vector<std::string>& symbols,
                    v1::BuildReport* report);

  const Options options_;
  Sandbox* const sandbox_;
  const Compiler compiler_;
  const std::string fingerprint_;
  const std::unique_ptr<BuildFolders> folders_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_TOOLCHAIN_H_
