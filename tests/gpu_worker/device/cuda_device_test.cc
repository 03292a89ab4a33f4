// NVML, monitor and choice of GPUs, over a library of our own that is opened as NVML would be.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "common/subprocess.h"
#include "gpu_worker/device/cuda_device_monitor.h"
#include "gpu_worker/device/device_factory.h"
#include "gpu_worker/device/gpu_processes.h"
#include "tests/gpu_worker/device/fake_nvml.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    void* const library = ::dlopen(KSEARCH_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    state_ = reinterpret_cast<FakeNvmlState* (*)()>(::dlsym(library, "fake_nvml_state"))();
    *state_ = FakeNvmlState();
    state_->count = 2;
    state_->gpus[0].uuid = "GPU-aaaa1111-0000";
    state_->gpus[1].uuid = "GPU-bbbb2222-0000";
    for (int i = 0; i < 2; ++i) {
      state_->gpus[i].name = "NVIDIA H200";
      state_->gpus[i].major = 9;
    }
    folder_ = testing::TempDir() + "cuda_device_test.XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    for (const char* node : {"nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1"}) {
      std::ofstream(folder_ + "/" + node) << "";
    }
    surroundings_.nvml_library = KSEARCH_FAKE_NVML;
    surroundings_.driver_library = folder_ + "/no_libcuda.so";
    surroundings_.device_folder = folder_;
    surroundings_.built_with_cuda = true;
    config_.mutable_device()->set_device_class(v1::DEVICE_CLASS_CUDA);
    config_.mutable_device()->set_lock_path(folder_ + "/lock");
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    EXPECT_EQ(state_->running, 0);
  }

  absl::StatusOr<std::vector<Device>> Make() { return MakeDevices(config_, surroundings_); }
  std::string Fault() { return std::string(Make().status().message()); }
  static std::vector<std::string> Ids(const absl::StatusOr<std::vector<Device>>& devices) {
    std::vector<std::string> ids;
    if (!devices.ok()) return {devices.status().ToString()};
    for (const Device& device : *devices) ids.push_back(device.monitor->Fingerprint().device_id());
    return ids;
  }

  FakeNvmlState* state_ = nullptr;
  std::string folder_;
  GpuSurroundings surroundings_;
  v1::WorkerConfig config_;
};

TEST_F(CudaDeviceTest, AFingerprintSaysWhatTheGpuIs) {
  const auto devices = Make();
  ASSERT_TRUE(devices.ok()) << devices.status();
  const v1::DeviceFingerprint print = devices->at(0).monitor->Fingerprint();
  EXPECT_EQ(print.device_id(), "GPU-aaaa1111-0000");
  EXPECT_EQ(print.name(), "NVIDIA H200");
  EXPECT_EQ(print.architecture(), "sm_90a");
  EXPECT_EQ(print.driver(), "580.159.04");
  EXPECT_EQ(print.cores(), 132);
  EXPECT_EQ(print.last_level_cache_bytes(), int64_t{60} << 20);
  EXPECT_EQ(print.memory_bytes(), int64_t{150} << 30);
  EXPECT_FALSE(print.harness_version().empty());
  EXPECT_EQ(devices->at(0).gpu_uuid, "GPU-aaaa1111-0000");
  EXPECT_THAT(devices->at(0).settings.gpus(), ElementsAre("GPU-aaaa1111-0000"));
}

TEST_F(CudaDeviceTest, GpusAreChosenByUuidIndexOrAll) {
  EXPECT_THAT(Ids(Make()), ElementsAre("GPU-aaaa1111-0000", "GPU-bbbb2222-0000"));
  config_.mutable_device()->add_gpus("GPU-bbbb");
  EXPECT_THAT(Ids(Make()), ElementsAre("GPU-bbbb2222-0000"));
  config_.mutable_device()->add_gpus("0");
  EXPECT_THAT(Ids(Make()), ElementsAre("GPU-bbbb2222-0000", "GPU-aaaa1111-0000"));
  config_.mutable_device()->add_gpus("1");
  EXPECT_THAT(Fault(), HasSubstr("'1' names GPU GPU-bbbb2222-0000 a second time"));
  config_.mutable_device()->clear_gpus();
  config_.mutable_device()->add_gpus("GPU-cccc");
  EXPECT_THAT(Fault(), testing::AllOf(HasSubstr("device.gpus: there is no GPU 'GPU-cccc'"),
                                      HasSubstr("1 = GPU-bbbb2222-0000 (NVIDIA H200)")));
  config_.mutable_device()->set_gpus(0, "GPU-");
  EXPECT_THAT(Fault(), HasSubstr("fits several"));
}

TEST_F(CudaDeviceTest, VisibleDevicesBoundTheChoice) {
  surroundings_.visible_devices = "1";
  EXPECT_THAT(Ids(Make()), ElementsAre("GPU-bbbb2222-0000"));
  config_.mutable_device()->add_gpus("0");
  EXPECT_THAT(Fault(), HasSubstr("there is no GPU '0' here"));
  config_.mutable_device()->clear_gpus();
  surroundings_.visible_devices = "";
  EXPECT_THAT(Fault(), HasSubstr("CUDA_VISIBLE_DEVICES hides them"));
}

TEST_F(CudaDeviceTest, AWorkerServesProcessorsBesideGpus) {
  v1::DeviceSettings& cpu = *config_.add_more_devices();
  cpu.set_device_class(v1::DEVICE_CLASS_CPU);
  cpu.set_lock_path(folder_ + "/cpu.lock");
  const auto devices = Make();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 3u);
  EXPECT_EQ(devices->at(2).device_class(), v1::DEVICE_CLASS_CPU);
  EXPECT_THAT(devices->at(2).gpu_uuid, IsEmpty());
  *config_.add_more_devices() = config_.device();
  EXPECT_THAT(Fault(), HasSubstr("GPU-aaaa1111-0000 is named twice"));
}

TEST_F(CudaDeviceTest, EveryGpuHasALockOfItsOwn) {
  const auto devices = Make();
  ASSERT_TRUE(devices.ok()) << devices.status();
  const auto first = devices->at(0).lock->TryAcquireExclusive();
  ASSERT_TRUE(first.ok() && first->has_value());
  EXPECT_FALSE(devices->at(0).lock->TryAcquireExclusive()->has_value());
  EXPECT_TRUE(devices->at(1).lock->TryAcquireExclusive()->has_value());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/lock-GPU-bbbb2222-0000.lock"));
}

TEST_F(CudaDeviceTest, StartUpFaultsSayWhatToDo) {
  surroundings_.nvml_library = folder_ + "/no_nvml.so";
  EXPECT_EQ(Make().status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Fault(), testing::AllOf(HasSubstr("no NVIDIA driver"), HasSubstr("install")));
  surroundings_.nvml_library = KSEARCH_FAKE_NVML;
  state_->init_result = 9;
  EXPECT_THAT(Fault(), HasSubstr("fake words (9)"));
  state_->init_result = 0;
  surroundings_.built_with_cuda = false;
  EXPECT_THAT(Fault(), HasSubstr("built without CUDA"));
  surroundings_.built_with_cuda = true;
  std::filesystem::remove(folder_ + "/nvidia-uvm");
  EXPECT_THAT(Fault(), testing::AllOf(HasSubstr("/nvidia-uvm missing"), HasSubstr("modprobe")));
}

TEST_F(CudaDeviceTest, BusyAndSplitGpusAreRefused) {
  SubprocessOptions options;
  options.argv = {"/bin/sleep", "60"};
  const auto other = Subprocess::Start(options);
  ASSERT_TRUE(other.ok());
  state_->gpus[1].process_count = 1;
  // A stranger: neither of this project nor begun by this process, like init.
  state_->gpus[1].processes[0] = 1;
  EXPECT_THAT(Fault(), testing::AllOf(HasSubstr("GPU GPU-bbbb2222-0000 is in use by 1 ("),
                                      HasSubstr("allow_busy")));
  config_.mutable_device()->set_allow_busy(true);
  EXPECT_TRUE(Make().ok());
  config_.mutable_device()->set_allow_busy(false);
  state_->gpus[1].processes[0] = static_cast<unsigned>((*other)->pid());
  EXPECT_TRUE(Make().ok()) << Fault();  // our own child
  state_->gpus[0].mig = true;
  EXPECT_THAT(Fault(), HasSubstr("MIG"));
}

TEST_F(CudaDeviceTest, HealthFollowsTheGpu) {
  const auto devices = Make();
  ASSERT_TRUE(devices.ok()) << devices.status();
  DeviceMonitor& monitor = *devices->at(0).monitor;
  EXPECT_TRUE(monitor.Sample().healthy());
  state_->gpus[0].temperature = 86;
  EXPECT_THAT(monitor.Sample().reason(), HasSubstr("86 C"));
  state_->gpus[0].temperature = 60;
  EXPECT_TRUE(monitor.Sample().healthy());
  state_->gpus[0].process_count = 1;
  state_->gpus[0].processes[0] = 1;
  EXPECT_THAT(monitor.Sample().reason(), HasSubstr("other processes compute on it: 1 ("));
  state_->gpus[0].process_count = 0;
  EXPECT_TRUE(monitor.Sample().healthy());
  // What a faulty candidate leaves behind is not the GPU's fault.
  state_->gpus[0].pending_xid = 31;
  EXPECT_TRUE(monitor.Sample().healthy());
  EXPECT_TRUE(devices->at(1).monitor->Sample().healthy());
}

TEST_F(CudaDeviceTest, ErrorsOfTheGpuItselfLast) {
  const auto devices = Make();
  ASSERT_TRUE(devices.ok()) << devices.status();
  state_->gpus[0].pending_xid = 79;
  EXPECT_THAT(devices->at(0).monitor->Sample().reason(),
              testing::AllOf(HasSubstr("Xid 79"), HasSubstr("GPU-aaaa1111-0000")));
  EXPECT_FALSE(devices->at(0).monitor->Sample().healthy());
  state_->gpus[1].ecc_errors = 2;
  EXPECT_THAT(devices->at(1).monitor->Sample().reason(), HasSubstr("2 uncorrected memory errors"));
  state_->gpus[1].ecc_errors = 0;
  EXPECT_FALSE(devices->at(1).monitor->Sample().healthy());
}

TEST_F(CudaDeviceTest, ALostGpuIsSaidToBeLost) {
  const auto devices = Make();
  ASSERT_TRUE(devices.ok()) << devices.status();
  state_->gpus[0].lost = true;
  EXPECT_THAT(devices->at(0).monitor->Sample().reason(), HasSubstr("fallen off the bus"));
}

TEST_F(CudaDeviceTest, ClocksAreReadAndMissingFactsSaidToBeMissing) {
  const auto api = NvmlApi::Load(KSEARCH_FAKE_NVML);
  ASSERT_TRUE(api.ok()) << api.status();
  const auto gpu = NvmlGpu::Find(*api, "GPU-bbbb2222-0000");
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  state_->gpus[1].sm_mhz = 1755;
  state_->gpus[1].throttle_reasons = 0x24;
  const auto clocks = gpu->Clocks();
  ASSERT_TRUE(clocks.ok()) << clocks.status();
  EXPECT_EQ(clocks->sm_mhz, 1755);
  EXPECT_EQ(clocks->mem_mhz, 3201);
  EXPECT_EQ(clocks->throttle_reason_bits & kSlowdownReasons, 0x20u);
  EXPECT_EQ(gpu->MaxSmMhz().value(), 1980);
  EXPECT_EQ(gpu->PowerMilliwatts().status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(NvmlGpu::Find(*api, "GPU-x").status().message()),
              HasSubstr("GPU-aaaa1111-0000, GPU-bbbb2222-0000"));
}

TEST(GpuProcessesTest, OnlyStrangersAreNamed) {
  const int none = 4194304 + 1;  // above the kernel's highest
  EXPECT_THAT(ForeignProcesses({::getpid()}, true), IsEmpty());
  EXPECT_THAT(ForeignProcesses({none}, false), IsEmpty());
  EXPECT_THAT(ForeignProcesses({none}, true), ElementsAre(HasSubstr("another container")));
  EXPECT_THAT(ForeignProcesses({1}, false), ElementsAre(testing::StartsWith("1 (")));
}

TEST(GpuFactsTest, ArchitecturesAreNamedAsNvccDoes) {
  EXPECT_EQ(GpuArchitecture(9, 0), "sm_90a");
  EXPECT_EQ(GpuArchitecture(10, 0), "sm_100a");
  EXPECT_EQ(GpuArchitecture(8, 6), "sm_86");
  EXPECT_EQ(KnownL2Bytes("NVIDIA H100 80GB HBM3"), int64_t{50} << 20);
  EXPECT_EQ(KnownL2Bytes("NVIDIA B200"), int64_t{126} << 20);
  EXPECT_EQ(KnownL2Bytes("NVIDIA T4"), 0);
}

}  // namespace
}  // namespace ksearch
