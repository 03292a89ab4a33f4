#include "tests/gpu/gpu_bench.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/sandbox/gpu_binds.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "gpu_worker/verifier/cuda/cuda_buffer_sets.h"
#include "gpu_worker/verifier/cuda/device_timing.h"
#include "gpu_worker/verifier/instruments/instrument.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

std::string FindNvcc() {
  for (const char* path : {"/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc"}) {
    if (std::ifstream(path).good()) return path;
  }
  return FindOnPath("nvcc").value_or("");
}

}  // namespace

GpuBench::GpuBench(Instruments instruments) : nvcc_(FindNvcc()) {
  const absl::Status opened = Open(instruments);
  if (!opened.ok()) why_not_ = std::string(opened.message());
}

absl::Status GpuBench::Open(Instruments instruments) {
  if (nvcc_.empty()) return absl::NotFoundError("no nvcc");
  ASSIGN_OR_RETURN(device_, VerifierDevice::Open(""));
  const std::string& uuid = device_->device().uuid();
  v1::SandboxSettings settings;
  if (const char* bwrap = std::getenv("KSEARCH_BWRAP")) settings.set_bubblewrap_path(bwrap);
  ASSIGN_OR_RETURN(sandbox_, MakeSandbox(settings));
  ASSIGN_OR_RETURN(GpuBinds binds, FindGpuBinds(uuid, std::nullopt, GpuHost()));
  for (const SandboxSpec::Bind& bind : binds.binds) {
    std::printf("bind %s\n", bind.host_path.c_str());
  }
  starter_ = std::make_unique<RunnerStarter>(*sandbox_, CopiedProgram("ksearch-runner"), settings,
                                             Clock::Real());
  starter_->UseGpu(uuid, std::move(binds));
  Bench::Options options;
  options.last_level_cache_bytes = device_->device().l2_bytes();
  options.max_rotation_bytes = int64_t{16} << 30;
  options.device_health = [this] { return device_->health(); };
  ASSIGN_OR_RETURN(options.gpu, MakeGpuTiming(device_));
  std::printf("%s: %.0f GB/s, %.0f TFLOP/s, clocks %s\n", device_->device().name().c_str(),
              options.gpu->peaks.bytes_per_second / 1e9,
              options.gpu->peaks.half_flops_per_second / 1e12,
              options.gpu->clocks == nullptr ? "not read" : "read");
  if (instruments == Instruments::kThoseThere) {
    options.sanitizer = FindInstrument("compute-sanitizer", nvcc_);
    options.profiler = FindInstrument("ncu", nvcc_);
  }
  bench_ = std::make_unique<Bench>(
      *starter_,
      [this](std::shared_ptr<const WorkloadCase> workload, int sets) {
        return CudaBufferSets::Create(device_, std::move(workload), sets);
      },
      Clock::Real(), std::move(options));
  return absl::OkStatus();
}

absl::Status GpuBench::UseTask(const v1::Task& task) {
  ASSIGN_OR_RETURN(const std::string header,
                   KernelHeader(task.definition(), v1::DEVICE_CLASS_CUDA));
  std::ofstream(ScratchFolder() + "/ksearch_task.h") << header;
  return absl::OkStatus();
}

absl::StatusOr<v1::Artifact> GpuBench::Build(const std::string& path) {
  v1::Artifact artifact;
  artifact.set_id(std::filesystem::path(path).stem());
  artifact.set_path(absl::StrCat(ScratchFolder(), "/", artifact.id(), ".so"));
  const std::string number = device_->device().architecture().substr(3);
  const char* const headers = std::getenv("KSEARCH_CUDA_HEADERS");
  const std::string command = absl::StrCat(
      "TMPDIR=", ScratchFolder(), " HOME=", ScratchFolder(), " ", nvcc_,
      " -std=c++17 -O3 -shared -Xcompiler -fPIC -gencode=arch=compute_", number, "a,code=sm_",
      number, "a -I", ScratchFolder(), headers == nullptr ? "" : absl::StrCat(" -I", headers),
      " -o ", artifact.path(), " ", path, " 2>&1");
  if (std::system(command.c_str()) != 0) {  // NOLINT(concurrency-mt-unsafe)
    return absl::InternalError(absl::StrCat("cannot build: ", command));
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(artifact.path(), int64_t{64} << 20));
  artifact.set_sha256(Sha256Hex(bytes));
  return artifact;
}

}  // namespace ksearch
