#include "tests/gpu_worker/verifier/python_programs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/folder_digest.h"
#include "common/log.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/common/python_with_torch.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {

PythonPrograms::PythonPrograms() {
  // The folder where this account may read the candidates.
  ::setenv("KSEARCH_BIN_DIR", (ScratchFolder() + "/bin").c_str(), 1);
  auto sandbox = MakeSandbox(v1::SandboxSettings());
  CHECK_OK(sandbox.status());
  sandbox_ = *std::move(sandbox);
  starter_ = std::make_unique<RunnerStarter>(*sandbox_, CopiedProgram("ksearch-runner"),
                                             v1::SandboxSettings(), Clock::Real());
  auto reserve = RunnerReserve::Create(*sandbox_, SlotFolder(), 2, Clock::Real());
  CHECK_OK(reserve.status());
  starter_->UseReserve(*std::move(reserve));
  Bench::Options options;
  options.last_level_cache_bytes = 256 << 10;
  auto warm_folders = WarmFolders::Create(WarmFolder(), int64_t{1} << 30);
  CHECK_OK(warm_folders.status());
  warm_folders_ = *std::move(warm_folders);
  options.warm_folders = warm_folders_.get();
  bench_ = std::make_unique<Bench>(*starter_, MemfdBufferSets::Create, Clock::Real(),
                                   std::move(options));
}

std::string PythonPrograms::WarmFolder() { return ScratchFolder() + "/warm"; }

std::string PythonPrograms::SlotFolder() { return ScratchFolder() + "/slots"; }

v1::Artifact PythonPrograms::Program(const std::string& text) {
  static int folders = 0;
  const std::string name = absl::StrCat("python", ++folders);
  const std::string folder = absl::StrCat(ScratchFolder(), "/", name);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/program.py") << text;
  v1::Artifact artifact;
  artifact.set_id(name);
  artifact.set_path(folder);
  artifact.set_sha256(*FolderSha256(folder, 1 << 20));
  artifact.set_main_file("program.py");
  for (const std::string& word :
       {std::string(kPython), std::string("-I"), std::string("-B"),
        CopiedProgram("ksearch_runner.py"), CopiedProgram("libksearch_python_runner.so")}) {
    artifact.mutable_runner()->add_argv(word);
  }
  artifact.mutable_runner()->set_in_advance(true);
  artifact.mutable_runner()->add_reads(CopiedProgram("ksearch_runner.py"));
  artifact.mutable_runner()->add_reads(CopiedProgram("ksearch_runner_modules"));
  artifact.mutable_runner()->add_reads(CopiedProgram("libksearch_python_runner.so"));
  return artifact;
}

v1::VerifierRequest PythonPrograms::Request(v1::JobKind kind, const std::string& text) {
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->set_kind(kind);
  *request.mutable_candidate() = Program(text);
  if (kind == v1::JOB_KIND_CHECK) request.clear_baseline();
  return request;
}

v1::VerifierRequest PythonPrograms::Confirmation(const std::string& text,
                                                 const v1::Artifact& rival) {
  v1::VerifierRequest request = ConfirmRequest("honest", "honest");
  *request.mutable_candidate() = Program(text);
  *request.mutable_rivals(0) = rival;
  // Every launch starts two interpreters that import torch.
  *request.mutable_job()->mutable_limits()->mutable_total_time() = ToProto(absl::Minutes(5));
  return request;
}

v1::Verdict PythonPrograms::Verify(const v1::VerifierRequest& request) {
  JobVerifier verifier(*bench_, [](const v1::VerifierReply::Progress&) {});
  absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
  EXPECT_TRUE(verdict.ok()) << verdict.status();
  return verdict.ok() ? *std::move(verdict) : v1::Verdict();
}

}  // namespace ksearch
