#include "gpu_worker/cuda/driver_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_worker/cuda/cuda_device.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

TEST(DriverApiTest, NoDriverIsSaid) {
  const auto api = DriverApi::Load("libksearch-no-such-driver.so.1");
  ASSERT_EQ(api.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(api.status().message()),
              HasSubstr("no CUDA driver: libksearch-no-such-driver.so.1"));
}

TEST(DriverApiTest, SomeOtherLibraryIsNoDriver) {
  const auto api = DriverApi::Load("libc.so.6");
  ASSERT_EQ(api.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(api.status().message()), HasSubstr("it lacks cuInit"));
}

TEST(DriverApiTest, EveryFunctionHasTheNameThatTheToolkitKnows) {
#ifdef KSEARCH_DRIVER_STUB
  const auto api = DriverApi::Load(KSEARCH_DRIVER_STUB);
  ASSERT_EQ(api.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(api.status().message()), HasSubstr("does not start"));
  EXPECT_THAT(std::string(api.status().message()), HasSubstr("(34)"));
#else
  GTEST_SKIP() << "the toolkit has no stub of the driver";
#endif
}

TEST(CudaDeviceTest, UuidIsWrittenAsNvmlWritesIt) {
  CUuuid uuid;
  for (int i = 0; i < 16; ++i) uuid.bytes[i] = static_cast<char>(0x10 * i + 15 - i);
  EXPECT_EQ(GpuUuidText(uuid), "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
}

}  // namespace
}  // namespace ksearch
