#ifndef KSEARCH_GPU_WORKER_BUILD_GXX_TOOLCHAIN_H_
#define KSEARCH_GPU_WORKER_BUILD_GXX_TOOLCHAIN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/build/builder.h"
#include "gpu_worker/build/compile/build_folder.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// Builds C++ candidates into shared objects with GCC inside the sandbox: sources can include and
// embed any file that the compiler can read. Floating point follows IEEE rules except for
// contraction to fused multiply-add, which GCC does by default and references do too.
class GxxToolchain : public Builder {
 public:
  struct Options {
    std::string compiler_path;             // empty: g++ on PATH
    std::vector<std::string> extra_flags;  // appended
    std::string work_dir;      // created if missing; its "build-*" folders belong to this object
    SandboxSpec sandbox_spec;  // the limits that jobs do not set
  };

  // Determines the compiler's version and target. NOT_FOUND names the missing compiler. `sandbox`
  // is borrowed.
  static absl::StatusOr<std::unique_ptr<GxxToolchain>> Create(Options options, Sandbox* sandbox);

  absl::StatusOr<BuildResult> Build(const BuildRequest& request, std::stop_token stop) override;
  std::string fingerprint() const override { return fingerprint_; }
  // "g++ (Debian 12.2.0-14) 12.2.0", and extra flags if there are any.
  std::string toolkit() const override;

 private:
  struct Compiler {
    std::string path;          // real path
    std::string version_line;  // first line of --version
    std::vector<std::string> flags;
  };
  GxxToolchain(Options options, Sandbox* sandbox, Compiler compiler, std::string fingerprint,
               std::unique_ptr<BuildFolders> folders)
      : options_(std::move(options)),
        sandbox_(sandbox),
        compiler_(std::move(compiler)),
        fingerprint_(std::move(fingerprint)),
        folders_(std::move(folders)) {}
  SandboxSpec CompilerSpec(const BuildRequest& request, const BuildFolder& folder) const;

  const Options options_;
  Sandbox* const sandbox_;
  const Compiler compiler_;
  const std::string fingerprint_;
  const std::unique_ptr<BuildFolders> folders_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_GXX_TOOLCHAIN_H_
