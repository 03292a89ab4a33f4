#include "gpu_worker/device/cpu_device_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "gpu_worker/device/cpu_architecture.h"
#include "gpu_worker/device/device_factory.h"

namespace ksearch {
namespace {

constexpr char kV2[] = "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3";
constexpr char kV3[] = "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave";

TEST(CpuArchitectureTest, LevelNeedsEveryFlagOfItsOwnAndLowerOnes) {
  const std::string head = "model name\t: Test CPU\nflags\t\t: ";
  EXPECT_EQ(ParseCpuInfo(head + "fpu", "x86_64").architecture, "x86-64-v1");
  EXPECT_EQ(ParseCpuInfo(head + kV2, "x86_64").architecture, "x86-64-v2");
  EXPECT_EQ(ParseCpuInfo(head + kV3, "x86_64").architecture, "x86-64-v1");
  EXPECT_EQ(ParseCpuInfo(head + kV2 + " " + kV3 + " avx512_bf16", "x86_64").architecture,
            "x86-64-v3+avx512_bf16");
}

TEST(CpuArchitectureTest, OtherMachinesGoByTheirName) {
  const CpuModel model = ParseCpuInfo("processor: 0\n", "aarch64");
  EXPECT_EQ(model.architecture, "aarch64");
  EXPECT_EQ(model.name, "");
}

class CpuDeviceMonitorTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "cpu_device_monitor_root";
    std::filesystem::remove_all(root_);
    Write("/proc/cpuinfo", "model name : Test CPU\nflags : fpu\n");
    Write("/etc/machine-id", "0123\n");
    Write("/proc/meminfo", "MemTotal:  4194304 kB\nMemAvailable:  2097152 kB\n");
    Write("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    Write("/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
    Write("/sys/devices/system/cpu/cpu0/cache/index1/level", "3\n");
    Write("/sys/devices/system/cpu/cpu0/cache/index1/size", "16M\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(CpuDeviceMonitorTest, FingerprintDescribesTheMachine) {
  const auto monitor = CpuDeviceMonitor::Create(root_);
  ASSERT_TRUE(monitor.ok()) << monitor.status();
  const v1::DeviceFingerprint print = (*monitor)->Fingerprint();
  EXPECT_EQ(print.name(), "Test CPU");
  EXPECT_EQ(print.last_level_cache_bytes(), 16 << 20);
  EXPECT_EQ(print.memory_bytes(), int64_t{4} << 30);
  EXPECT_GE(print.cores(), 1);
  EXPECT_EQ(print.harness_version(), kHarnessVersion);
  EXPECT_EQ(print.device_id().substr(0, 4), "cpu:");
  EXPECT_EQ(print.device_id(), (*CpuDeviceMonitor::Create(root_))->Fingerprint().device_id());
}

TEST_F(CpuDeviceMonitorTest, AnotherMachineIsAnotherDevice) {
  const std::string first = (*CpuDeviceMonitor::Create(root_))->Fingerprint().device_id();
  Write("/etc/machine-id", "4567\n");
  EXPECT_NE(first, (*CpuDeviceMonitor::Create(root_))->Fingerprint().device_id());
}

TEST_F(CpuDeviceMonitorTest, UnhealthyWithoutMemory) {
  const auto monitor = CpuDeviceMonitor::Create(root_);
  EXPECT_TRUE((*monitor)->Sample().healthy());
  Write("/proc/meminfo", "MemTotal:  4194304 kB\nMemAvailable:  1024 kB\n");
  const v1::DeviceHealth health = (*monitor)->Sample();
  EXPECT_FALSE(health.healthy());
  EXPECT_THAT(health.reason(), testing::HasSubstr("1 MiB"));
}

TEST(DeviceFactoryTest, ThisMachineHasAnArchitecture) {
  const auto devices = MakeDevices(v1::WorkerConfig(), GpuSurroundings::OfThisProcess());
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_FALSE((*devices)[0].monitor->Fingerprint().architecture().empty());
}

}  // namespace
}  // namespace ksearch
