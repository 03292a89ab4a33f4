// NVML, monitor and choice of GPUs, over a fake library that is opened as NVML would be.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "common/subprocess.h"
#include "gpu_worker/device/cuda_device_monitor.h"
#include "gpu_worker/device/device_factory.h"
#include "gpu_worker/device/gpu_processes.h"
#include "gpu_worker/device/xid/kernel_log.h"
#include "gpu_worker/device/xid/xid_table.h"
#include "tests/fakes/fake_clock.h"
#include "tests/gpu_worker/device/fake_nvml.h"

namespace ksearch {
namespace {

using testing::AllOf;
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
  EXPECT_EQ(devices->at(0).driver_cuda_version, 13000);
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
  state_->count = 1;
  EXPECT_THAT(Fault(), testing::AllOf(HasSubstr("/nvidia-uvm missing"), HasSubstr("modprobe")));
}

TEST_F(CudaDeviceTest, BusyAndSplitGpusAreRefused) {
  SubprocessOptions options;
  options.argv = {"/bin/sleep", "60"};
  const auto other = Subprocess::Start(options);
  ASSERT_TRUE(other.ok());
  config_.mutable_device()->add_gpus("1");
  state_->gpus[1].process_count = 1;
  // A foreign process, like init: neither of this project nor started by this process.
  state_->gpus[1].processes[0] = 1;
  EXPECT_THAT(Fault(), testing::AllOf(HasSubstr("GPU GPU-bbbb2222-0000 is in use by 1 ("),
                                      HasSubstr("allow_busy")));
  config_.mutable_device()->set_allow_busy(true);
  EXPECT_TRUE(Make().ok());
  config_.mutable_device()->set_allow_busy(false);
  state_->gpus[1].processes[0] = static_cast<unsigned>((*other)->pid());
  EXPECT_TRUE(Make().ok()) << Fault();  // our own child
  state_->gpus[1].mig = true;
  EXPECT_THAT(Fault(), HasSubstr("MIG"));
}

TEST_F(CudaDeviceTest, AWorkerStartsWithTheGpusThatAreWell) {
  std::filesystem::remove(folder_ + "/nvidia1");
  const auto devices = Make();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_TRUE(devices->at(0).monitor->Sample().healthy());
  EXPECT_THAT(devices->at(1).monitor->Sample().reason(),
              testing::AllOf(HasSubstr("GPU-bbbb2222-0000"), HasSubstr("/nvidia1 missing")));
  // Once repaired, it works without a restart.
  std::ofstream(folder_ + "/nvidia1") << "";
  EXPECT_TRUE(devices->at(1).monitor->Sample().healthy());
  state_->gpus[1].mig = true;
  EXPECT_THAT(devices->at(1).monitor->Sample().reason(), HasSubstr("MIG"));
  state_->gpus[0].mig = true;
  EXPECT_THAT(Fault(), testing::AllOf(HasSubstr("GPU-aaaa1111-0000 is split"),
                                      HasSubstr("\nGPU GPU-bbbb2222-0000 is split")));
}

TEST_F(CudaDeviceTest, AGpuThatDoesNotAnswerIsLeftOut) {
  state_->gpus[0].lost = true;
  EXPECT_THAT(Ids(Make()), testing::UnorderedElementsAre("GPU-bbbb2222-0000", "unreachable-0"));
  const auto devices = Make();
  for (const Device& device : *devices) {
    const v1::DeviceHealth health = device.monitor->Sample();
    EXPECT_EQ(health.healthy(), device.gpu_uuid == "GPU-bbbb2222-0000");
    if (health.healthy()) continue;
    EXPECT_THAT(health.reason(), HasSubstr("GPU 0 does not answer"));
  }
  config_.mutable_device()->add_gpus("1");
  EXPECT_THAT(Ids(Make()), ElementsAre("GPU-bbbb2222-0000"));
  config_.mutable_device()->set_gpus(0, "0");
  EXPECT_THAT(Fault(), HasSubstr("GPU 0 does not answer"));
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
  // An Xid that a faulty candidate causes is not the GPU's fault.
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
  EXPECT_THAT(devices->at(0).monitor->Sample().reason(), HasSubstr("fallen off the bus"));
}

// A monitor of the first GPU with a stopped clock.
std::unique_ptr<CudaDeviceMonitor> Watch(const std::string& folder, const FakeClock* clock,
                                         std::shared_ptr<KernelLog> log = nullptr) {
  const auto api = NvmlApi::Load(KSEARCH_FAKE_NVML);
  GpuFacts facts;
  facts.uuid = "GPU-aaaa1111-0000";
  return std::make_unique<CudaDeviceMonitor>(
      facts, NvmlGpu::Find(*api, facts.uuid).value(),
      CudaDeviceMonitor::Options{
          .device_folder = folder, .kernel_log = std::move(log), .clock = clock});
}

TEST_F(CudaDeviceTest, MemoryErrorsThatNothingExplainsLast) {
  const FakeClock first;
  FakeClock clock;
  const auto monitor = Watch(folder_, &clock);
  state_->gpus[0].ecc_errors = 2;
  EXPECT_THAT(monitor->Sample().reason(), HasSubstr("2 uncorrected memory errors"));
  EXPECT_THAT(monitor->FaultSince(first.SteadyNow()), HasSubstr("2 uncorrected memory errors"));
  clock.Advance(absl::Seconds(6));
  EXPECT_THAT(monitor->Sample().reason(), HasSubstr("restart the worker"));
  state_->gpus[0].ecc_errors = 0;
  EXPECT_FALSE(monitor->Sample().healthy());
}

TEST_F(CudaDeviceTest, AContainedErrorCostsTheJobAndNotTheGpu) {
  FakeClock clock;
  const auto monitor = Watch(folder_, &clock);
  const absl::Time before = clock.SteadyNow();
  clock.Advance(absl::Seconds(1));
  // The count may rise before the driver says why.
  state_->gpus[0].ecc_errors = 1;
  EXPECT_FALSE(monitor->Sample().healthy());
  state_->gpus[0].pending_xid = 94;
  clock.Advance(absl::Seconds(1));
  EXPECT_TRUE(monitor->Sample().healthy());
  EXPECT_EQ(monitor->FaultSince(before), "Xid 94 (contained memory error)");
  clock.Advance(absl::Seconds(10));
  EXPECT_TRUE(monitor->Sample().healthy());
  EXPECT_EQ(monitor->FaultSince(clock.SteadyNow()), "");
}

TEST_F(CudaDeviceTest, EveryListedXidDoesWhatItsClassSays) {
  const FakeClock clock;
  for (const Xid& xid : XidTable()) {
    SCOPED_TRACE(xid.number);
    const auto monitor = Watch(folder_, &clock);
    state_->gpus[0].pending_xid = xid.number;
    const bool of_the_device = xid.xid_class == XidClass::kDevice;
    const bool fault = of_the_device || xid.xid_class == XidClass::kContained;
    EXPECT_EQ(monitor->FaultSince(clock.SteadyNow()).empty(), !fault);
    EXPECT_EQ(monitor->Sample().healthy(), !of_the_device) << monitor->Sample().reason();
  }
  const auto monitor = Watch(folder_, &clock);
  state_->gpus[0].pending_xid = 9999;
  EXPECT_TRUE(monitor->Sample().healthy());
}

TEST_F(CudaDeviceTest, XidsComeFromTheKernelLogWhereNvmlHasNone) {
  const FakeClock clock;
  EXPECT_EQ(Watch(folder_, &clock)->xid_source(), "NVML events");
  state_->gives_events = false;
  EXPECT_EQ(Watch(folder_, &clock)->xid_source(), "nothing");
  const std::string path = folder_ + "/kmsg";
  std::ofstream out(path);
  out << "4,1,1,-;NVRM: Xid (PCI:0000:0a:00): 79, pid=1, of an earlier day\n" << std::flush;
  const auto log = KernelLog::Open(path);
  ASSERT_TRUE(log.ok()) << log.status();
  const auto monitor = Watch(folder_, &clock, *log);
  EXPECT_EQ(monitor->xid_source(), "the kernel's log");
  out << "4,2,2,-;NVRM: Xid (PCI:0000:0b:00): 79, pid='<unknown>', name=<unknown>, of the other\n"
      << "4,3,3,-;NVRM: Xid (PCI:0000:0a:00): 31, pid=2, name=ksearch-runner, Ch 0008\n"
      << std::flush;
  EXPECT_TRUE(monitor->Sample().healthy());
  out << "4,4,4,-;NVRM: Xid (PCI:0000:0a:00): 119, pid=2, name=x, Timeout\n" << std::flush;
  EXPECT_THAT(monitor->Sample().reason(), HasSubstr("Xid 119 (the GPU's firmware"));
  EXPECT_THAT((*log)->TakeXids({0, 0x0b, 0}), ElementsAre(79u));
}

TEST(XidTableTest, IsWhatTheDesignSays) {
  std::map<XidClass, std::vector<uint64_t>> by_class;
  uint64_t last = 0;
  for (const Xid& xid : XidTable()) {
    EXPECT_GT(xid.number, last) << "once each, in order";
    last = xid.number;
    by_class[xid.xid_class].push_back(xid.number);
  }
  EXPECT_THAT(by_class[XidClass::kProgram], ElementsAre(13u, 31u, 43u, 69u));
  EXPECT_THAT(by_class[XidClass::kCleanUp], ElementsAre(45u));
  EXPECT_THAT(by_class[XidClass::kContained], ElementsAre(94u));
  EXPECT_THAT(by_class[XidClass::kDevice],
              ElementsAre(8u, 46u, 48u, 63u, 64u, 74u, 79u, 95u, 109u, 119u, 120u, 154u));
  EXPECT_EQ(DescribeXid(7).xid_class, XidClass::kUnlisted);
}

TEST(KernelLogTest, OnlyXidLinesAreRead) {
  const auto record = ParseXidLine("[ 12.3] NVRM: Xid (PCI:0001:C1:00): 154, GPU recovery action");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->xid, 154u);
  EXPECT_EQ(record->gpu, (PciAddress{1, 0xc1, 0}));
  EXPECT_EQ(ParsePciAddress("00000001:C1:00.0"), record->gpu);
  for (const char* line : {"", "NVRM: Xid (PCI:0000:0a:00)", "NVRM: Xid (PCI:0a): 13, x",
                           "NVRM: Xid (PCI:0000:0a:00): , x", "usb 1-1: new device"}) {
    EXPECT_FALSE(ParseXidLine(line).has_value()) << line;
  }
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

TEST_F(CudaDeviceTest, AReadingHoldsWhatTheDriverTells) {
  const auto devices = Make();
  ASSERT_TRUE(devices.ok()) << devices.status();
  DeviceMonitor& monitor = *devices->at(1).monitor;
  state_->gpus[1].sm_mhz = 1755;
  state_->gpus[1].temperature = 71;
  state_->gpus[1].throttle_reasons = 0x24;
  std::optional<v1::DeviceReading> reading = monitor.Read();
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->device_id(), "GPU-bbbb2222-0000");
  EXPECT_EQ(reading->sm_clock_mhz(), 1755);
  EXPECT_EQ(reading->memory_clock_mhz(), 3201);
  EXPECT_EQ(reading->temperature_celsius(), 71);
  EXPECT_EQ(reading->throttle_reasons(), 0x24u);
  EXPECT_EQ(reading->power_milliwatts(), 0) << "not known";
  EXPECT_EQ(reading->power_limit_milliwatts(), 0) << "not known";
  state_->gpus[1].power_milliwatts = 612'500;
  EXPECT_EQ(monitor.Read()->power_milliwatts(), 612'500);
  state_->gpus[1].lost = true;
  EXPECT_FALSE(monitor.Read().has_value());
  EXPECT_TRUE(devices->at(0).monitor->Read().has_value());
}

TEST(GpuProcessesTest, OnlyStrangersAreNamed) {
  const int none = 4194304 + 1;  // above the kernel's highest
  ForeignProcessRules rules, unseen;
  unseen.unseen = true;
  EXPECT_THAT(ForeignProcesses({::getpid()}, unseen), IsEmpty());
  EXPECT_THAT(ForeignProcesses({none}, rules), IsEmpty());
  EXPECT_THAT(ForeignProcesses({none}, unseen), ElementsAre(HasSubstr("another container")));
  EXPECT_THAT(ForeignProcesses({1}, rules), ElementsAre(testing::StartsWith("1 (")));
}

TEST(GpuProcessesTest, AnotherWorkerIsAStrangerOnlyIfItsLockIsAnother) {
  ForeignProcessRules rules;
  rules.proc = testing::TempDir() + "gpu_processes_test";
  const auto process = [&](int pid, const std::string& name, int parent, int uid) {
    const std::string folder = absl::StrCat(rules.proc, "/", pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/stat") << pid << " (" << name << ") S " << parent << " 1 1";
    std::ofstream(folder + "/status") << "Name:\t" << name << "\nUid:\t0\t" << uid << "\t0\t0\n";
  };
  const int here = static_cast<int>(::geteuid());
  process(900001, "ksearch-worker", 1, here);
  process(900002, "python3", 900001, here);  // a runner
  process(900003, "ksearch-verif", 1, here + 1);
  process(900004, "python3", 900003, here + 1);
  process(900005, "train.py", 1, here);
  const std::vector<int> pids = {900001, 900002, 900003, 900004, 900005};
  EXPECT_THAT(ForeignProcesses(pids, rules), ElementsAre("900005 (train.py)"));
  rules.other_accounts = true;
  EXPECT_THAT(ForeignProcesses(pids, rules),
              ElementsAre(AllOf(HasSubstr("900003 (ksearch-verif of a worker of another account"),
                                HasSubstr("same lock_path")),
                          HasSubstr("900004 (python3"), "900005 (train.py)"));
  std::filesystem::remove_all(rules.proc);
}

TEST(GpuFactsTest, ACompilerNewerThanTheDriverIsRefused) {
  const char* const toolkit = "nvcc release 13.0, V13.0.88; g++ (Debian 12.2.0) 12.2.0; header 1f";
  EXPECT_TRUE(CheckDriverRuns(13000, toolkit).ok());
  EXPECT_TRUE(CheckDriverRuns(13010, "nvcc release 12.8, V12.8.93").ok());
  EXPECT_TRUE(CheckDriverRuns(12040, "nvcc release 12.8, V12.8.93").ok()) << "only minor";
  EXPECT_TRUE(CheckDriverRuns(0, toolkit).ok()) << "not known";
  EXPECT_TRUE(CheckDriverRuns(12040, "a compiler of another kind").ok());
  const absl::Status wrong = CheckDriverRuns(12040, toolkit);
  EXPECT_TRUE(absl::IsFailedPrecondition(wrong));
  EXPECT_THAT(std::string(wrong.message()),
              AllOf(HasSubstr("nvcc is of CUDA 13.0"), HasSubstr("driver is for CUDA 12.4"),
                    HasSubstr("compiler_path")));
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
