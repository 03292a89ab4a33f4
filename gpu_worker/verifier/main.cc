// ksearch-verifier --socket-fd=N --config=FILE [--gpu=UUID]: one per device. Takes VerifierRequests
// from the worker and answers them one after another, until the worker hangs up. Without --gpu the
// device is the CPU.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/clock.h"
#include "common/language.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "gpu_worker/verifier/host/host_caches.h"
#include "gpu_worker/verifier/host/host_peaks.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/instruments/instrument.h"
#include "gpu_worker/verifier/request_loop.h"
#include "gpu_worker/verifier/timing/bench.h"
#ifdef KSEARCH_CUDA
#include "gpu_worker/device/nvml/nvml_gpu.h"
#include "gpu_worker/sandbox/gpu_binds.h"
#include "gpu_worker/verifier/cuda/cuda_buffer_sets.h"
#include "gpu_worker/verifier/cuda/device_timing.h"
#include "gpu_worker/verifier/cuda/verifier_device.h"
#endif
#include "proto/config.pb.h"

namespace ksearch {
namespace {

struct Flags {
  int socket_fd = -1;
  std::string config_path;
  std::string gpu_uuid;  // empty: the CPU
};

absl::StatusOr<Flags> ParseFlags(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    absl::string_view value = argv[i];
    if (absl::ConsumePrefix(&value, "--socket-fd=")) {
      if (!absl::SimpleAtoi(value, &flags.socket_fd)) {
        return absl::InvalidArgumentError(
            absl::StrCat("--socket-fd: '", value, "' is not a number"));
      }
    } else if (absl::ConsumePrefix(&value, "--config=")) {
      flags.config_path = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--gpu=")) {
      if (value.empty()) return absl::InvalidArgumentError("--gpu= needs a GPU's UUID");
      flags.gpu_uuid = std::string(value);
    } else {
      return absl::InvalidArgumentError(absl::StrCat("unknown argument '", argv[i], "'"));
    }
  }
  if (flags.socket_fd < 0) return absl::InvalidArgumentError("--socket-fd=N is required");
  return flags;
}

// For each verifier; a program with a dozen autotuned kernels has some 10 MiB.
constexpr int64_t kWarmFoldersBytes = int64_t{4} << 30;

// Each takes some hundred MiB.
constexpr int kReservedRunners = 6;

// Every buffer set is a few open files. Returns how many files this process may open.
int64_t RaiseOpenFileLimit() {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_max, 1 << 20));
}

Bench::Options BenchOptions(const v1::DeviceSettings& device, int64_t open_files) {
  Bench::Options options;
  // The other half is for the job itself.
  options.max_kept_files = std::clamp<int64_t>(open_files / 2, 1, options.max_kept_files);
  const long cache_bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (cache_bytes > 0) options.last_level_cache_bytes = cache_bytes;
  if (device.max_rotation_bytes() > 0) options.max_rotation_bytes = device.max_rotation_bytes();
  if (device.has_max_baseline_age()) {
    options.max_baseline_age = FromProto(device.max_baseline_age());
  }
  return options;
}

// The configured compiler; empty: the one that is found.
std::string CudaCompiler(const v1::WorkerConfig& config) {
  for (const v1::Toolchain& toolchain : config.toolchains()) {
    if (FactsOf(toolchain.language()).toolkit == Toolkit::kNvcc) return toolchain.compiler_path();
  }
  return "";
}

#ifdef KSEARCH_CUDA
// Shares of the device's free memory; candidates and their workspaces need the rest.
constexpr double kRotationShare = 0.3;
constexpr double kOracleShare = 0.15;

// Not every container shows /proc/driver/nvidia, where it is written as well.
std::optional<int> NodeNumber(const std::string& uuid) {
  auto api = NvmlApi::Load();
  if (!api.ok()) return std::nullopt;
  const auto gpu = NvmlGpu::Find(*std::move(api), uuid);
  return gpu.ok() ? gpu->node_number() : std::nullopt;
}

absl::StatusOr<BufferSetsFactory> UseGpu(const std::string& uuid, const std::string& compiler_path,
                                         bool rotation_is_set, Bench::Options* options,
                                         RunnerStarter* starter) {
  ASSIGN_OR_RETURN(GpuBinds binds, FindGpuBinds(uuid, NodeNumber(uuid), GpuHost()));
  ASSIGN_OR_RETURN(std::shared_ptr<VerifierDevice> gpu, VerifierDevice::Open(uuid));
  ASSIGN_OR_RETURN(const int64_t free_bytes, gpu->device().FreeBytes());
  starter->UseGpu(uuid, std::move(binds));
  if (gpu->device().l2_bytes() > 0) options->last_level_cache_bytes = gpu->device().l2_bytes();
  if (!rotation_is_set) {
    options->max_rotation_bytes =
        static_cast<int64_t>(static_cast<double>(free_bytes) * kRotationShare);
  }
  options->oracle_cache_bytes =
      static_cast<int64_t>(static_cast<double>(free_bytes) * kOracleShare);
  options->device_health = [gpu] { return gpu->health(); };
  options->sanitizer = FindInstrument("compute-sanitizer", compiler_path);
  options->profiler = FindInstrument("ncu", compiler_path);
  ASSIGN_OR_RETURN(options->gpu, MakeGpuTiming(gpu));
  LOG(INFO) << "msg=\"device opened\" gpu=" << gpu->device().uuid() << " name=\""
            << gpu->device().name() << "\" free_bytes=" << free_bytes
            << " l2_bytes=" << gpu->device().l2_bytes();
  return BufferSetsFactory([gpu](std::shared_ptr<const WorkloadCase> workload, int sets) {
    return CudaBufferSets::Create(gpu, std::move(workload), sets);
  });
}
#else
absl::StatusOr<BufferSetsFactory> UseGpu(const std::string& uuid, const std::string&, bool,
                                         Bench::Options*, RunnerStarter*) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot use GPU ", uuid, ": this program was built without CUDA"));
}
#endif

absl::Status Run(int argc, char** argv) {
  ASSIGN_OR_RETURN(const Flags flags, ParseFlags(argc, argv));
  v1::WorkerConfig config;
  if (!flags.config_path.empty()) RETURN_IF_ERROR(ReadTextproto(flags.config_path, &config));
  const int64_t open_files = RaiseOpenFileLimit();
  ASSIGN_OR_RETURN(const std::unique_ptr<Sandbox> sandbox, MakeSandbox(config.sandbox()));
  const std::string folder = config.binary_dir().empty() ? BinaryFolder() : config.binary_dir();
  const Clock& clock = Clock::Real();
  RunnerStarter starter(*sandbox, folder + "/ksearch-runner", config.sandbox(), clock);
  Bench::Options options = BenchOptions(config.device(), open_files);
  BufferSetsFactory allocate = MemfdBufferSets::Create;
  if (!flags.gpu_uuid.empty()) {
    const bool rotation_is_set = config.device().max_rotation_bytes() > 0;
    absl::StatusOr<BufferSetsFactory> on_gpu =
        UseGpu(flags.gpu_uuid, CudaCompiler(config), rotation_is_set, &options, &starter);
    if (!on_gpu.ok()) return RefuseRequest(flags.socket_fd, on_gpu.status());
    allocate = *std::move(on_gpu);
  } else {
#ifndef KSEARCH_SANITIZED  // a candidate is faster than what this would measure
    const int64_t caches = AllLastLevelCacheBytes(/*root=*/"", options.last_level_cache_bytes);
    options.measure_host = [caches] { return MeasureHostPeaks(caches); };
#endif
  }
  const int reserved = config.sandbox().has_reserved_runners() ? config.sandbox().reserved_runners()
                                                               : kReservedRunners;
  std::unique_ptr<WarmFolders> warm_folders;
  if (!config.state_dir().empty()) {
    const std::string name = flags.gpu_uuid.empty() ? "cpu" : flags.gpu_uuid;
    const std::string folder_of_device = absl::StrCat(config.state_dir(), "/warm/", name);
    ASSIGN_OR_RETURN(warm_folders, WarmFolders::Create(folder_of_device, kWarmFoldersBytes));
    options.warm_folders = warm_folders.get();
    // Also where none are kept in reserve: programs see a folder of their own.
    const std::string slots = absl::StrCat(config.state_dir(), "/slots/", name);
    ASSIGN_OR_RETURN(auto reserve, RunnerReserve::Create(*sandbox, slots, reserved, clock));
    starter.UseReserve(std::move(reserve));
  }
  Bench bench(starter, std::move(allocate), clock, std::move(options));
  return ServeRequests(flags.socket_fd, bench);
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::printf("ksearch-verifier %s\n", KSEARCH_VERSION);
    return EXIT_SUCCESS;
  }
  if (argc == 2 && std::string(argv[1]) == "--help") {
    std::printf(
        "ksearch-verifier checks and times candidates on one device. ksearch-worker starts it;\n"
        "do not start it yourself.\n"
        "usage: ksearch-verifier --socket-fd=N [--config=FILE] [--gpu=UUID] | --version\n");
    return EXIT_SUCCESS;
  }
  ksearch::SetLogName("ksearch-verifier");
  const absl::Status status = ksearch::Run(argc, argv);
  if (status.ok()) return EXIT_SUCCESS;
  LOG(ERROR) << "msg=\"cannot go on\" error=\"" << status.message() << "\"";
  return status.code() == absl::StatusCode::kInvalidArgument ? 2 : EXIT_FAILURE;
}
