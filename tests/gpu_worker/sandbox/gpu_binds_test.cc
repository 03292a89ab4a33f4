#include "gpu_worker/sandbox/gpu_binds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr char kFirst[] = "GPU-11111111-2222-3333-4444-555555555555";
constexpr char kSecond[] = "GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";

// A host with two GPUs whose minor numbers are not in the order of their addresses, and a driver in
// its own folder.
class GpuBindsTest : public ::testing::Test {
 protected:
  GpuBindsTest() {
    std::string folder = fs::temp_directory_path() / "gpu-binds-XXXXXX";
    root_ = ::mkdtemp(folder.data());
    AddGpu("0000:1b:00.0", kFirst, 1);
    AddGpu("0000:3d:00.0", kSecond, 0);
    for (const char* node : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-modeset"}) {
      Touch(Dev(node));
    }
    for (const char* library :
         {"libcuda.so.580.1", "libnvidia-ptxjitcompiler.so.1", "libnvidia-nvvm.so.4",
          "libnvidia-gpucomp.so.580.1", "libnvidia-ml.so.1", "libnvidia-encode.so.1"}) {
      Touch(Library(library));
    }
    fs::create_symlink("libcuda.so.580.1", Library("libcuda.so.1"));
    host_.proc_gpus = root_ / "proc";
    host_.dev = root_ / "dev";
    host_.driver_library = Library("libcuda.so.1");
  }
  ~GpuBindsTest() override { fs::remove_all(root_); }

  void AddGpu(const std::string& address, const std::string& uuid, int minor) {
    fs::create_directories(root_ / "proc" / address);
    std::ofstream(root_ / "proc" / address / "information")
        << "Model: \t\t NVIDIA H200\nIRQ:   \t\t 0\nGPU UUID: \t " << uuid
        << "\nVideo BIOS: \t 96.00\nDevice Minor: \t " << minor << "\nGPU Excluded:\t No\n";
  }
  void Touch(const std::string& path) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "x";
  }
  std::string Dev(const std::string& name) const { return root_ / "dev" / name; }
  std::string Library(const std::string& name) const { return root_ / "driver" / name; }
  static std::vector<std::string> Paths(const GpuBinds& gpu) {
    std::vector<std::string> paths;
    for (const SandboxSpec::Bind& bind : gpu.binds) {
      EXPECT_EQ(bind.host_path, bind.inside_path);
      paths.push_back(bind.host_path);
    }
    return paths;
  }

  fs::path root_;
  GpuHost host_;
};

TEST_F(GpuBindsTest, OneGpuByItsUuidAndTheDriverButNothingElse) {
  const auto gpu = FindGpuBinds(kFirst, std::nullopt, host_);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  EXPECT_THAT(
      Paths(*gpu),
      ::testing::UnorderedElementsAre(
          Dev("nvidia1"), Dev("nvidiactl"), Dev("nvidia-uvm"), "/sys", Library("libcuda.so.1"),
          Library("libcuda.so.580.1"), Library("libnvidia-ptxjitcompiler.so.1"),
          Library("libnvidia-nvvm.so.4"), Library("libnvidia-gpucomp.so.580.1")));
  EXPECT_EQ(gpu->library_folder, (root_ / "driver").string());
  for (const SandboxSpec::Bind& bind : gpu->binds) {
    EXPECT_EQ(bind.device, bind.host_path.rfind(host_.dev, 0) == 0) << bind.host_path;
  }
}

TEST_F(GpuBindsTest, ToolsNodeComesAlongWhereThereIsOne) {
  Touch(Dev("nvidia-uvm-tools"));
  const auto gpu = FindGpuBinds(kSecond, std::nullopt, host_);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  EXPECT_THAT(Paths(*gpu), IsSupersetOf({Dev("nvidia0"), Dev("nvidia-uvm-tools")}));
  EXPECT_THAT(Paths(*gpu), Not(Contains(Dev("nvidia1"))));
}

TEST_F(GpuBindsTest, AKnownMinorNeedsNoProc) {
  host_.proc_gpus = root_ / "nothing";
  const auto gpu = FindGpuBinds(kFirst, 1, host_);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  EXPECT_THAT(Paths(*gpu), Contains(Dev("nvidia1")));
}

TEST_F(GpuBindsTest, TheOnlyNodeIsTheGpuWhereProcTellsNothing) {
  host_.proc_gpus = root_ / "nothing";
  fs::remove(Dev("nvidia0"));
  const auto gpu = FindGpuBinds(kFirst, std::nullopt, host_);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  EXPECT_THAT(Paths(*gpu), Contains(Dev("nvidia1")));
}

TEST_F(GpuBindsTest, AnUnknownGpuIsRefusedWithThoseThatAreThere) {
  const auto gpu = FindGpuBinds("GPU-0", std::nullopt, host_);
  EXPECT_EQ(gpu.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(gpu.status().message()),
              AllOf(HasSubstr("GPU-0"), HasSubstr(kFirst), HasSubstr(kSecond)));
}

TEST_F(GpuBindsTest, AMissingNodeIsNamed) {
  fs::remove(Dev("nvidia-uvm"));
  const auto gpu = FindGpuBinds(kFirst, std::nullopt, host_);
  EXPECT_EQ(gpu.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(gpu.status().message()), HasSubstr("nvidia-uvm is not there"));
}

TEST_F(GpuBindsTest, AMissingDriverIsNamed) {
  host_.driver_library = root_ / "nowhere" / "libcuda.so.1";
  const auto gpu = FindGpuBinds(kFirst, std::nullopt, host_);
  EXPECT_EQ(gpu.status().code(), absl::StatusCode::kNotFound);
}

TEST_F(GpuBindsTest, ACudaProcessGetsMoreOfWhatItNeeds) {
  const auto gpu = FindGpuBinds(kFirst, std::nullopt, host_);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  SandboxSpec spec;
  spec.address_space_bytes = 1 << 30;
  ksearch::AddGpu(*gpu, kFirst, &spec);
  EXPECT_EQ(spec.address_space_bytes, 0);
  EXPECT_GE(spec.max_processes, 256);
  EXPECT_EQ(spec.environment["CUDA_VISIBLE_DEVICES"], kFirst);
  EXPECT_EQ(spec.environment["LD_LIBRARY_PATH"], gpu->library_folder);
  EXPECT_EQ(spec.binds.size(), gpu->binds.size());
}

}  // namespace
}  // namespace ksearch
