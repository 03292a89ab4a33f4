#include "common/platform.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

v1::Platform H200() {
  v1::Platform platform;
  platform.set_device_model("NVIDIA H200");
  platform.set_architecture("sm_90a");
  platform.set_harness_version("5");
  platform.set_toolkit("nvcc 13.0");
  return platform;
}

TEST(PlatformTest, EveryFieldThatIsWantedMustBeMet) {
  EXPECT_TRUE(Meets(H200(), H200()));
  EXPECT_TRUE(Meets(H200(), v1::Platform()));
  for (const char* field : {"device_model", "architecture", "harness_version", "toolkit"}) {
    const auto* const descriptor = v1::Platform::descriptor()->FindFieldByName(field);
    ASSERT_NE(descriptor, nullptr);
    v1::Platform other = H200();
    other.GetReflection()->SetString(&other, descriptor, "another");
    EXPECT_FALSE(Meets(other, H200())) << field;
    EXPECT_TRUE(IsComplete(other));
    other.GetReflection()->ClearField(&other, descriptor);
    EXPECT_FALSE(Meets(other, H200())) << field << " is not known";
    EXPECT_TRUE(Meets(H200(), other)) << field << " may be any";
    EXPECT_FALSE(IsComplete(other)) << field;
  }
  EXPECT_EQ(v1::Platform::descriptor()->field_count(), 4) << "compare the new field, too";
}

TEST(PlatformTest, ABuildDependsOnNoDevice) {
  EXPECT_EQ(PlatformText(PlatformFor(v1::JOB_KIND_BUILD, H200())), "harness 5, nvcc 13.0");
  EXPECT_EQ(PlatformText(PlatformFor(v1::JOB_KIND_CHECK, H200())),
            "NVIDIA H200 sm_90a, harness 5, nvcc 13.0");
  EXPECT_EQ(PlatformText(v1::Platform()), "any");
}

}  // namespace
}  // namespace ksearch
