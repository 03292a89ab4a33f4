#ifndef KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_TOOLCHAIN_H_
#define KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_TOOLCHAIN_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gpu_worker/build/builder.h"
#include "gpu_worker/build/compile/build_folder.h"
#include "gpu_worker/build/python/interpreter.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// "Builds" programs in Python for the interpreter that will run them: every file is parsed, in the
// sandbox and by that interpreter, so that a syntax error or a missing entry shows before the
// device; nothing of the program runs. The artifact is the folder of its sources, with the command
// that starts a runner for it: with BuildRequest.architecture one on a GPU, where programs that
// compile as they are called first are said to do so (RunnerCommand.compiled_folders); on
// processors those that name torch.compile, with a torch that has it, torch.utils.cpp_extension or
// tvm_ffi.
//
// The file that is loaded is kernel.py (LanguageFacts.main_path), or the only one outside of
// folders.
class PythonToolchain : public Builder {
 public:
  struct Options {
    std::string interpreter;          // empty: see FindInterpreter
    std::string virtual_environment;  // what VIRTUAL_ENV says; may be empty
    std::string binary_dir;           // holds the runner: kRunnerScript and kRunnerLibrary
    std::string work_dir;             // as GxxToolchain's
    SandboxSpec sandbox_spec;         // limits that the job does not give
  };
  static constexpr char kRunnerScript[] = "ksearch_runner.py";
  static constexpr char kRunnerLibrary[] = "libksearch_python_runner.so";
  // A bundle's libraries for it (deploy/worker_bundle.sh --with-python); not there where the system
  // has them.
  static constexpr char kLibrariesFolder[] = "ksearch_python_libraries";

  // Asks the interpreter what it is, then has it import torch and load the runner's library within
  // the sandbox: what fails for every program fails here. NOT_FOUND or FAILED_PRECONDITION say what
  // is missing and how to get it. `sandbox` is borrowed.
  static absl::StatusOr<std::unique_ptr<PythonToolchain>> Create(Options options, Sandbox* sandbox);

  absl::StatusOr<BuildResult> Build(const BuildRequest& request, std::stop_token stop) override;
  // The main file runs in its folder, with what the interpreter's programs see, and 16 GiB.
  absl::StatusOr<ProgramDescription> Describe(const BuildRequest& request,
                                              std::stop_token stop) override;
  // With everything that the artifact's command names, too.
  std::string fingerprint() const override { return fingerprint_; }
  // "python 3.11.2, torch 1.13.0".
  std::string toolkit() const override { return VersionsOf(interpreter_); }
  // GPUs take CheckGpuParts.
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

  // What starts a runner for these sources: on a GPU, on processors.
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
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_TOOLCHAIN_H_
