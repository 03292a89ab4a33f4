#ifndef KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_TOOLCHAIN_H_
#define KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_TOOLCHAIN_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gpu_worker/build/builder.h"
#include "gpu_worker/build/compile/build_folder.h"
#include "gpu_worker/build/python/interpreter.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// "Builds" Python programs for the interpreter that will run them: that interpreter parses every
// file in the sandbox, so that a syntax error or a missing entry is found before the device is
// used; nothing of the program runs. The artifact is the folder of its sources, with the command
// that starts its runner. With BuildRequest.architecture the runner uses a GPU, and its programs
// are marked as compiling at their first call (RunnerCommand.compiled_folders); on processors this
// mark is set for programs that name torch.compile (if this torch has it),
// torch.utils.cpp_extension or tvm_ffi.
//
// The file that is loaded is kernel.py (LanguageFacts.main_path), or the only one outside of
// folders.
class PythonToolchain : public Builder {
 public:
  struct Options {
    std::string interpreter;          // empty: see FindInterpreter
    std::string virtual_environment;  // the value of VIRTUAL_ENV; may be empty
    std::string binary_dir;           // contains the runner: the three below
    std::string work_dir;             // as for GxxToolchain
    SandboxSpec sandbox_spec;         // the limits that jobs do not set
  };
  static constexpr char kRunnerScript[] = "ksearch_runner.py";
  static constexpr char kRunnerModules[] = "ksearch_runner_modules";  // the folder of its modules
  static constexpr char kRunnerLibrary[] = "libksearch_python_runner.so";
  // A bundle's libraries for it (deploy/worker_bundle.sh --with-python); missing if the system has
  // them.
  static constexpr char kLibrariesFolder[] = "ksearch_python_libraries";

  // Determines the interpreter's versions, then has it import torch and load the runner's library
  // within the sandbox, so that anything that would fail for every program fails here. NOT_FOUND or
  // FAILED_PRECONDITION say what is missing and how to get it. `sandbox` is borrowed.
  static absl::StatusOr<std::unique_ptr<PythonToolchain>> Create(Options options, Sandbox* sandbox);

  absl::StatusOr<BuildResult> Build(const BuildRequest& request, std::stop_token stop) override;
  // Runs the main file in its folder, with the files that the interpreter's programs see, and 16
  // GiB.
  absl::StatusOr<ProgramDescription> Describe(const BuildRequest& request,
                                              std::stop_token stop) override;
  // Includes everything that the artifact's command names.
  std::string fingerprint() const override { return fingerprint_; }
  // "python 3.11.2, torch 1.13.0".
  std::string toolkit() const override { return VersionsOf(interpreter_); }
  // GPUs need CheckGpuParts.
  absl::Status ServesDevice(v1::DeviceClass device) const override;

 private:
  PythonToolchain(Options options, Sandbox* sandbox, Interpreter interpreter,
                  v1::RunnerCommand runner, std::string fingerprint,
                  std::unique_ptr<BuildFolders> folders)
      : options_(std::move(options)),
        sandbox_(sandbox),
        interpreter_(std::move(interpreter)),
        runner_(std::move(runner)),
        fingerprint_(std::move(fingerprint)),
        folders_(std::move(folders)) {}

  // The command that starts a runner for these sources, on a GPU or on processors.
  v1::RunnerCommand GpuRunner(const v1::Sources& sources) const;
  v1::RunnerCommand HostRunner(const v1::Sources& sources) const;
  SandboxSpec ParserSpec(const BuildRequest& request, const BuildFolder& folder,
                         const std::string& main_file) const;

  const Options options_;
  Sandbox* const sandbox_;
  const Interpreter interpreter_;
  const v1::RunnerCommand runner_;
  const std::string fingerprint_;
  const std::unique_ptr<BuildFolders> folders_;
  std::atomic<int> describing_ = 0;  // in progress
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_TOOLCHAIN_H_
