#include "coordinator/scheduler/placement.h"

#include "gtest/gtest.h"

namespace ksearch {
namespace {

v1::WorkerHello Worker(v1::DeviceClass device, const std::string& architecture,
                       std::initializer_list<v1::Language> languages) {
  v1::WorkerHello hello;
  v1::DeviceCapability* capability = hello.add_devices();
  capability->set_device_class(device);
  capability->mutable_fingerprint()->set_architecture(architecture);
  for (const v1::Language language : languages) capability->add_languages(language);
  return hello;
}

v1::JobSpec Job(v1::DeviceClass device, v1::Language language, const std::string& architecture) {
  v1::JobSpec spec;
  spec.set_device(device);
  spec.mutable_candidate()->set_language(language);
  spec.set_architecture(architecture);
  return spec;
}

TEST(PlacementTest, DeviceClassMustMatch) {
  const v1::WorkerHello cpu = Worker(v1::DEVICE_CLASS_CPU, "x86-64-v3", {v1::LANGUAGE_CPP});
  EXPECT_TRUE(CanRun(cpu, RequirementOf(Job(v1::DEVICE_CLASS_CPU, v1::LANGUAGE_CPP, ""))));
  EXPECT_FALSE(CanRun(cpu, RequirementOf(Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CPP, ""))));
  EXPECT_TRUE(CanRun(cpu, RequirementOf(Job(v1::DEVICE_CLASS_UNSPECIFIED, v1::LANGUAGE_CPP, ""))));
}

TEST(PlacementTest, LanguageMustBeSpoken) {
  const v1::WorkerHello gpu = Worker(v1::DEVICE_CLASS_CUDA, "sm_90a", {v1::LANGUAGE_CUDA});
  EXPECT_TRUE(CanRun(gpu, RequirementOf(Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CUDA, ""))));
  EXPECT_FALSE(CanRun(gpu, RequirementOf(Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_PYTHON, ""))));
}

TEST(PlacementTest, ArchitectureMustMatchIfGiven) {
  const v1::WorkerHello gpu = Worker(v1::DEVICE_CLASS_CUDA, "sm_90a", {v1::LANGUAGE_CUDA});
  EXPECT_TRUE(CanRun(gpu, RequirementOf(Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CUDA, "sm_90a"))));
  EXPECT_FALSE(
      CanRun(gpu, RequirementOf(Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CUDA, "sm_100a"))));
}

TEST(PlacementTest, RivalsLanguagesCountToo) {
  v1::JobSpec spec = Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CUDA, "");
  spec.add_rivals()->mutable_sources()->set_language(v1::LANGUAGE_PYTHON);
  spec.add_rivals()->set_rival_id("baseline");  // the task's own: no sources
  const v1::WorkerHello cuda = Worker(v1::DEVICE_CLASS_CUDA, "sm_90a", {v1::LANGUAGE_CUDA});
  const v1::WorkerHello both =
      Worker(v1::DEVICE_CLASS_CUDA, "sm_90a", {v1::LANGUAGE_PYTHON, v1::LANGUAGE_CUDA});
  EXPECT_FALSE(CanRun(cuda, RequirementOf(spec)));
  EXPECT_TRUE(CanRun(both, RequirementOf(spec)));
}

TEST(PlacementTest, LanguagesOfTheTasksProgramsCountToo) {
  v1::JobSpec spec = Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_PYTHON, "");
  const v1::WorkerHello python = Worker(v1::DEVICE_CLASS_CUDA, "sm_90a", {v1::LANGUAGE_PYTHON});
  const v1::WorkerHello both =
      Worker(v1::DEVICE_CLASS_CUDA, "sm_90a", {v1::LANGUAGE_CUDA, v1::LANGUAGE_PYTHON});
  EXPECT_TRUE(CanRun(python, RequirementOf(spec)));
  spec.mutable_reference()->set_language(v1::LANGUAGE_CUDA);
  EXPECT_FALSE(CanRun(python, RequirementOf(spec)));
  EXPECT_TRUE(CanRun(both, RequirementOf(spec)));
  spec.clear_reference();
  spec.mutable_baseline()->set_language(v1::LANGUAGE_CUDA);
  EXPECT_FALSE(CanRun(python, RequirementOf(spec)));
  EXPECT_TRUE(CanRun(both, RequirementOf(spec)));
}

TEST(PlacementTest, OneDeviceMustMeetEverything) {
  v1::WorkerHello mixed = Worker(v1::DEVICE_CLASS_CPU, "x86-64-v3", {v1::LANGUAGE_CPP});
  v1::DeviceCapability* gpu = mixed.add_devices();
  gpu->set_device_class(v1::DEVICE_CLASS_CUDA);
  gpu->add_languages(v1::LANGUAGE_CUDA);
  EXPECT_FALSE(CanRun(mixed, RequirementOf(Job(v1::DEVICE_CLASS_CPU, v1::LANGUAGE_CUDA, ""))));
  EXPECT_TRUE(CanRun(mixed, RequirementOf(Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CUDA, ""))));
}

TEST(PlacementTest, ADeviceThatOnlyBuildsGetsNothingElse) {
  v1::WorkerHello builder = Worker(v1::DEVICE_CLASS_CUDA, "x86-64-v3", {v1::LANGUAGE_CUDA});
  builder.mutable_devices(0)->set_build_only(true);
  v1::JobSpec spec = Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CUDA, "");
  for (const v1::JobKind kind : {v1::JOB_KIND_SCREEN, v1::JOB_KIND_CONFIRM, v1::JOB_KIND_CHECK}) {
    spec.set_kind(kind);
    EXPECT_FALSE(CanRun(builder, RequirementOf(spec)));
  }
  spec.set_kind(v1::JOB_KIND_BUILD);
  spec.set_architecture("sm_100a");
  EXPECT_TRUE(CanRun(builder, RequirementOf(spec)));
  // A worker with a device builds too, for whatever architecture.
  EXPECT_TRUE(
      CanRun(Worker(v1::DEVICE_CLASS_CUDA, "sm_90a", {v1::LANGUAGE_CUDA}), RequirementOf(spec)));
  EXPECT_FALSE(
      CanRun(Worker(v1::DEVICE_CLASS_CPU, "x86-64-v3", {v1::LANGUAGE_CPP}), RequirementOf(spec)));
}

TEST(PlacementTest, BuildsGoWhereTheCompilerKnowsTheArchitecture) {
  v1::WorkerHello worker = Worker(v1::DEVICE_CLASS_CUDA, "sm_90a", {v1::LANGUAGE_CUDA});
  worker.mutable_devices(0)->add_build_architectures("sm_90a");
  worker.mutable_devices(0)->add_build_architectures("sm_100a");
  v1::JobSpec spec = Job(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CUDA, "sm_100a");
  EXPECT_FALSE(CanRun(worker, RequirementOf(spec)));
  spec.set_kind(v1::JOB_KIND_BUILD);
  EXPECT_TRUE(CanRun(worker, RequirementOf(spec)));
  spec.set_architecture("sm_999");
  EXPECT_FALSE(CanRun(worker, RequirementOf(spec)));
  spec.set_architecture("");
  EXPECT_TRUE(CanRun(worker, RequirementOf(spec)));
}

}  // namespace
}  // namespace ksearch
