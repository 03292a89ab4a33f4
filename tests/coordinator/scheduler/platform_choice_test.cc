#include "coordinator/scheduler/platform_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/platform.h"
#include "coordinator/scheduler/placement.h"
#include "coordinator/scheduler/task_standing.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kNvcc[] = "nvcc release 13.0; header 01234567";

v1::WorkerHello Worker(const std::string& model, const std::string& harness = "5",
                       const std::string& toolkit = kNvcc,
                       const std::string& architecture = "sm_90a") {
  v1::WorkerHello hello;
  v1::DeviceCapability* device = hello.add_devices();
  device->set_device_class(v1::DEVICE_CLASS_CUDA);
  device->add_languages(v1::LANGUAGE_CUDA);
  device->mutable_fingerprint()->set_name(model);
  device->mutable_fingerprint()->set_architecture(architecture);
  device->mutable_fingerprint()->set_harness_version(harness);
  v1::LanguageToolkit* compiler = device->add_toolkits();
  compiler->set_language(v1::LANGUAGE_CUDA);
  compiler->set_toolkit(toolkit);
  return hello;
}

v1::JobSpec Job(v1::JobKind kind = v1::JOB_KIND_SCREEN) {
  v1::JobSpec spec;
  spec.set_kind(kind);
  spec.set_device(v1::DEVICE_CLASS_CUDA);
  spec.mutable_candidate()->set_language(v1::LANGUAGE_CUDA);
  return spec;
}

v1::JobSpec JobOf(const v1::WorkerHello& worker) {
  v1::JobSpec spec = Job();
  *spec.mutable_platform() = PlatformsFor({worker}, spec).at(0);
  return spec;
}

std::vector<std::string> Models(const std::vector<v1::WorkerHello>& workers,
                                const v1::JobSpec& spec) {
  std::vector<std::string> models;
  for (const v1::Platform& platform : PlatformsFor(workers, spec)) {
    models.push_back(platform.device_model());
  }
  return models;
}

TEST(PlatformChoiceTest, TheModelOfMostDevicesComesFirst) {
  const std::vector<v1::WorkerHello> fleet = {Worker("H100"), Worker("H200"), Worker("H200")};
  EXPECT_THAT(Models(fleet, Job()), ElementsAre("H200", "H100"));
  // Among equals always the same.
  EXPECT_THAT(Models({Worker("H200"), Worker("H100")}, Job()), ElementsAre("H100", "H200"));
  EXPECT_THAT(PlatformText(PlatformsFor(fleet, Job())[0]),
              "H200 sm_90a, harness 5, nvcc release 13.0; header 01234567");
}

TEST(PlatformChoiceTest, WhatIsAskedForIsKept) {
  const std::vector<v1::WorkerHello> fleet = {Worker("H100"), Worker("H200"), Worker("H200", "6")};
  v1::JobSpec spec = Job();
  spec.mutable_platform()->set_device_model("H100");
  EXPECT_THAT(Models(fleet, spec), ElementsAre("H100"));
  spec.mutable_platform()->set_device_model("B200");
  EXPECT_THAT(Models(fleet, spec), IsEmpty());
  spec = Job();
  spec.mutable_platform()->set_harness_version("6");
  ASSERT_EQ(PlatformsFor(fleet, spec).size(), 1u);
  EXPECT_EQ(PlatformsFor(fleet, spec)[0].harness_version(), "6");
}

TEST(PlatformChoiceTest, ABuildTakesWhateverDevice) {
  const std::vector<v1::WorkerHello> fleet = {Worker("H100"), Worker("H200")};
  const auto platforms = PlatformsFor(fleet, Job(v1::JOB_KIND_BUILD));
  ASSERT_EQ(platforms.size(), 1u);
  EXPECT_EQ(platforms[0].device_model(), "");
  EXPECT_EQ(platforms[0].toolkit(), kNvcc);
}

TEST(PlatformChoiceTest, AJobGoesOnlyToItsPlatform) {
  const v1::JobSpec spec = JobOf(Worker("H200"));
  EXPECT_TRUE(CanRun(Worker("H200"), RequirementOf(spec)));
  EXPECT_FALSE(CanRun(Worker("H100"), RequirementOf(spec)));
  EXPECT_FALSE(CanRun(Worker("H200", "6"), RequirementOf(spec)));
  EXPECT_FALSE(CanRun(Worker("H200", "5", "nvcc release 12.8"), RequirementOf(spec)));
  EXPECT_FALSE(CanRun(Worker("H200", "5", kNvcc, "sm_100a"), RequirementOf(spec)));
  // Another language's toolkit does not matter.
  v1::WorkerHello both = Worker("H200");
  v1::LanguageToolkit* other = both.mutable_devices(0)->add_toolkits();
  other->set_language(v1::LANGUAGE_CPP);
  other->set_toolkit(kNvcc);
  both.mutable_devices(0)->mutable_toolkits(0)->set_toolkit("nvcc release 12.8");
  EXPECT_FALSE(CanRun(both, RequirementOf(spec)));
}

TEST(StaleTest, SaysWhatIsDifferent) {
  const auto why = [](const v1::WorkerHello& then, const std::vector<v1::WorkerHello>& now) {
    return WhyStale(JobOf(then), PlatformsFor(now, Job()));
  };
  EXPECT_EQ(why(Worker("H200"), {Worker("H200")}), "");
  EXPECT_EQ(why(Worker("H200"), {Worker("H100"), Worker("H200")}), "");
  EXPECT_EQ(why(Worker("H200"), {Worker("H100"), Worker("B200", "5", kNvcc, "sm_100a")}),
            "device model: H200; workers have B200 or H100");
  EXPECT_EQ(why(Worker("H200", "4"), {Worker("H200"), Worker("H100", "4")}),
            "harness version: 4; workers have 5");
  EXPECT_EQ(why(Worker("H200", "5", "nvcc release 12.8"), {Worker("H200")}),
            "toolkit: nvcc release 12.8; workers have nvcc release 13.0; header 01234567");
  EXPECT_EQ(why(Worker("H200"), {}), "no worker is known that could do such a job");
}

TEST(StaleTest, AResultOfAnUnknownPlatformIsStale) {
  EXPECT_EQ(WhyStale(Job(), PlatformsFor({Worker("H200")}, Job())),
            "recorded without what it was measured with");
}

TEST(StaleTest, AJobOfAnyModelCountsForEveryModelOfItsArchitecture) {
  v1::JobSpec spec = JobOf(Worker("H200"));
  spec.mutable_platform()->clear_device_model();
  EXPECT_EQ(WhyStale(spec, PlatformsFor({Worker("H100")}, Job())), "");
  EXPECT_EQ(WhyStale(spec, PlatformsFor({Worker("B200", "5", kNvcc, "sm_100a")}, Job())),
            "architecture: sm_90a; workers have sm_100a");
}

TEST(StaleTest, AFaultOfATaskIsThatOfOnePlatform) {
  TaskStanding standing;
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_TASK_ERROR);
  result.set_message("reference.cu:3: unknown type");
  const v1::JobSpec spec = JobOf(Worker("H200", "5", "nvcc release 12.8"));
  EXPECT_TRUE(standing.Note(spec, result));
  EXPECT_NE(standing.FaultFor(spec), nullptr);
  EXPECT_EQ(standing.FaultFor(JobOf(Worker("H200"))), nullptr);
}

}  // namespace
}  // namespace ksearch
