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
#include "gpu_worker/build/cuda/nvcc_steps.h"
#include "gpu_worker/build/cuda/ptx_delays.h"
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

absl::Status Shell(const std::string& command) {
  if (std::system(command.c_str()) == 0) return absl::OkStatus();  // NOLINT(concurrency-mt-unsafe)
  return absl::InternalError(absl::StrCat("this failed: ", command));
}

absl::StatusOr<v1::Artifact> ArtifactAt(const std::string& id, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, int64_t{64} << 20));
  v1::Artifact artifact;
  artifact.set_id(id);
  artifact.set_path(path);
  artifact.set_sha256(Sha256Hex(bytes));
  return artifact;
}

}  // namespace

GpuBench::GpuBench(Instruments instruments, const Around& around) : nvcc_(FindNvcc()) {
  const absl::Status opened = Open(instruments, around);
  if (!opened.ok()) why_not_ = std::string(opened.message());
}

absl::Status GpuBench::Open(Instruments instruments, const Around& around) {
  if (nvcc_.empty()) return absl::NotFoundError("no nvcc");
  ASSIGN_OR_RETURN(device_, VerifierDevice::Open(""));
  const std::string& uuid = device_->device().uuid();
  v1::SandboxSettings settings;
  if (const char* bwrap = std::getenv("KSEARCH_BWRAP")) settings.set_bubblewrap_path(bwrap);
  if (const char* filter = std::getenv("KSEARCH_GPU_FILTER")) settings.set_gpu_filter(filter);
  ASSIGN_OR_RETURN(sandbox_, MakeSandbox(settings));
  if (around) sandbox_ = around(std::move(sandbox_));
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

std::string GpuBench::Command(const std::string& path, const std::string& object,
                              const std::string& folder) const {
  const std::string number = device_->device().architecture().substr(3);
  const char* const headers = std::getenv("KSEARCH_CUDA_HEADERS");
  return absl::StrCat("TMPDIR=", folder, " HOME=", ScratchFolder(), " ", nvcc_,
                      " -std=c++17 -O3 -shared -Xcompiler -fPIC -gencode=arch=compute_", number,
                      "a,code=sm_", number, "a -I", ScratchFolder(),
                      headers == nullptr ? "" : absl::StrCat(" -I", headers), " -o ", object, " ",
                      path);
}

absl::StatusOr<v1::Artifact> GpuBench::Build(const std::string& path) {
  const std::string id = std::filesystem::path(path).stem();
  const std::string object = absl::StrCat(ScratchFolder(), "/", id, ".so");
  RETURN_IF_ERROR(Shell(Command(path, object, ScratchFolder())));
  return ArtifactAt(id, object);
}

// Builds as NvccToolchain does.
absl::StatusOr<v1::Artifact> GpuBench::BuildDelayed(const std::string& path) {
  const std::string id = std::filesystem::path(path).stem();
  const std::string folder = absl::StrCat(ScratchFolder(), "/", id, "-steps");
  const std::string object = absl::StrCat(ScratchFolder(), "/", id, "-delayed.so");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string plan = folder + "/plan";
  RETURN_IF_ERROR(Shell(absl::StrCat(Command(path, object, folder), " --dryrun 2> ", plan)));
  ASSIGN_OR_RETURN(const std::string listing, ReadFile(plan, int64_t{1} << 20));
  ASSIGN_OR_RETURN(const NvccSteps steps, ReadDryRun(listing));
  RETURN_IF_ERROR(WriteFileAtomically(folder + "/to_ptx.sh", steps.to_ptx));
  RETURN_IF_ERROR(WriteFileAtomically(folder + "/from_ptx.sh", steps.from_ptx));
  RETURN_IF_ERROR(Shell(absl::StrCat("sh ", folder, "/to_ptx.sh")));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    ASSIGN_OR_RETURN(const std::string ptx, ReadFile(entry.path(), kMaxPtxBytes));
    ASSIGN_OR_RETURN(const DelayedPtx delayed, AddDelays(ptx));
    RETURN_IF_ERROR(WriteFileAtomically(entry.path(), delayed.text));
  }
  RETURN_IF_ERROR(Shell(absl::StrCat("sh ", folder, "/from_ptx.sh")));
  return ArtifactAt("delayed", object);
}

}  // namespace ksearch
