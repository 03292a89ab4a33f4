#include "tests/tasks/cpu_program.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

// kernel<<<grid, threads, 0, stream>>>(arguments); where grid and threads are plain words. The
// arguments are taken at the launch, as CUDA does.
std::string WithLaunchesRewritten(const std::string& text) {
  static const std::regex kLaunch(R"((\w+)<<<([\w:]+),\s*([\w:]+),\s*0,\s*stream>>>\(([^;]*)\);)");
  return std::regex_replace(text, kLaunch,
                            "cuda_on_cpu::Launch(dim3($2), dim3($3), [=] { $1($4); });");
}

}  // namespace

absl::StatusOr<std::unique_ptr<CpuProgram>> CpuProgram::Build(const v1::Definition& definition,
                                                              const v1::Sources& sources) {
  std::unique_ptr<CpuProgram> program(new CpuProgram);
  std::string pattern = (std::filesystem::temp_directory_path() / "ksearch-cpu-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return absl::InternalError("no temporary folder");
  program->folder_ = pattern;
  ASSIGN_OR_RETURN(const std::string header, KernelHeader(definition, v1::DEVICE_CLASS_CUDA));
  std::ofstream(pattern + "/ksearch_task.h") << header;
  std::ofstream(pattern + "/program.cc") << WithLaunchesRewritten(sources.files(0).content());
  SubprocessOptions options;
  const char* root = getenv("KSEARCH_SOURCE_DIR");
  options.argv = {
      "g++",       "-std=c++20",
      "-O1",       "-shared",
      "-fPIC",     absl::StrCat("-I", root == nullptr ? "." : root, "/tests/tasks/cuda_on_cpu"),
      "-o",        "program.so",
      "program.cc"};
  options.environment["PATH"] = getenv("PATH");
  options.working_directory = pattern;
  ASSIGN_OR_RETURN(const CommandOutput output, RunCommand(options, absl::Minutes(2)));
  if (output.exit.signaled || output.exit.code != 0) {
    return absl::InvalidArgumentError(absl::StrCat("g++: ", output.err));
  }
  program->library_ = dlopen((pattern + "/program.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (program->library_ == nullptr) return absl::InvalidArgumentError(dlerror());
  if (dlsym(program->library_, "ksearch_run") == nullptr) {
    return absl::InvalidArgumentError("no ksearch_run");
  }
  return program;
}

CpuProgram::~CpuProgram() {
  if (library_ != nullptr) dlclose(library_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

int64_t CpuProgram::WorkspaceBytes(const uint64_t* arguments) const {
  void* symbol = dlsym(library_, "ksearch_workspace_bytes");
  return symbol == nullptr ? 0 : reinterpret_cast<int64_t (*)(const uint64_t*)>(symbol)(arguments);
}

int CpuProgram::Run(const uint64_t* arguments) const {
  using Entry = int (*)(const uint64_t*, void*);
  return reinterpret_cast<Entry>(dlsym(library_, "ksearch_run"))(arguments, nullptr);
}

}  // namespace ksearch
