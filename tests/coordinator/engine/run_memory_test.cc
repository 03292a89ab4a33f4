#include "coordinator/engine/run_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "coordinator/engine/run_settings.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

class RunMemoryTest : public testing::Test {
 protected:
  RunMemoryTest() {
    RunRow row;
    row.run_id = "earlier";
    EXPECT_TRUE(store_.CreateRun(row).ok());
    task_.mutable_definition()->set_op_type("softmax");
    task_.set_device(v1::DEVICE_CLASS_CUDA);
    config_.set_task("kernelbench/l1/23");
    config_.set_language(v1::LANGUAGE_CUDA);
    config_.mutable_platform()->set_architecture("sm_90a");
    config_.mutable_memory()->set_mode(v1::MEMORY_MODE_READ);
  }
  static v1::MeasuredGain Gain(const std::string& candidate) {
    v1::MeasuredGain gain;
    gain.set_run_id("earlier");
    gain.set_candidate_id(candidate);
    gain.set_task("softmax_rows");
    gain.set_op_type("softmax");
    gain.set_device(v1::DEVICE_CLASS_CUDA);
    gain.set_architecture("sm_90a");
    gain.set_language(v1::LANGUAGE_CUDA);
    gain.set_intent(v1::INTENT_KIND_VECTORIZE);
    gain.set_passed(true);
    gain.set_speedup(1.5);
    return gain;
  }
  void Remember(const std::vector<v1::MeasuredGain>& gains) {
    StepCommit step;
    step.run_id = "earlier";
    step.gains = gains;
    ASSERT_TRUE(store_.CommitStep(step).ok());
  }
  // The number of gains in the run's snapshot.
  int64_t Read() {
    config_.clear_memory_snapshot();
    EXPECT_TRUE(ReadMemory(&store_, task_, absl::UnixEpoch(), &config_).ok());
    return config_.memory_snapshot().gains();
  }

  FakeStore store_;
  v1::Task task_;
  v1::RunConfig config_;
};

TEST_F(RunMemoryTest, ReadsWhatWasMeasuredOnSuchDevicesInItsLanguage) {
  v1::MeasuredGain other_device = Gain("b");
  other_device.set_architecture("sm_100a");
  v1::MeasuredGain other_language = Gain("c");
  other_language.set_language(v1::LANGUAGE_PYTHON);
  Remember({Gain("a"), other_device, other_language});
  EXPECT_EQ(Read(), 1);
  EXPECT_TRUE(config_.memory_snapshot().priors(0).same_op_type());
  config_.mutable_platform()->clear_architecture();  // no worker has come yet
  EXPECT_EQ(Read(), 2);
}

TEST_F(RunMemoryTest, NeverAcrossTasksOfItsBenchmarkUnlessToldSo) {
  v1::MeasuredGain same_benchmark = Gain("b");
  same_benchmark.set_task("kernelbench/l1/24");
  same_benchmark.set_benchmark("kernelbench");
  v1::MeasuredGain other_benchmark = Gain("c");
  other_benchmark.set_task("flashinfer/rmsnorm");
  other_benchmark.set_benchmark("flashinfer");
  Remember({Gain("a"), same_benchmark, other_benchmark});
  EXPECT_EQ(Read(), 2);
  config_.mutable_memory()->set_within_benchmark(true);
  EXPECT_EQ(Read(), 3);
  config_.mutable_memory()->clear_within_benchmark();
  config_.set_task("softmax_rows");  // a task of no benchmark reads all
  EXPECT_EQ(Read(), 3);
}

TEST_F(RunMemoryTest, ARunOfAnExperimentReadsNothingThatTheExperimentMeasured) {
  v1::MeasuredGain same_experiment = Gain("b");
  same_experiment.set_experiment("e1");
  v1::MeasuredGain other_experiment = Gain("c");
  other_experiment.set_experiment("e2");
  Remember({Gain("a"), same_experiment, other_experiment});
  config_.mutable_trial()->set_experiment("e1");
  EXPECT_EQ(Read(), 2);
}

TEST_F(RunMemoryTest, OffReadsNothing) {
  Remember({Gain("a")});
  config_.mutable_memory()->set_mode(v1::MEMORY_MODE_OFF);
  EXPECT_EQ(Read(), 0);
  EXPECT_FALSE(config_.has_memory_snapshot());
}

TEST_F(RunMemoryTest, WithNothingToReadThereIsNoSnapshot) {
  EXPECT_EQ(Read(), 0);
  EXPECT_FALSE(config_.has_memory_snapshot());
}

TEST_F(RunMemoryTest, ARepetitionShowsWhatWasShownAndAddsNothing) {
  v1::MemorySnapshot shown;
  shown.add_priors()->set_tried(4);
  config_.mutable_memory()->set_mode(v1::MEMORY_MODE_READ_WRITE);
  RepeatMemory(shown, &config_);
  EXPECT_EQ(config_.memory().mode(), v1::MEMORY_MODE_READ);
  EXPECT_EQ(config_.memory_snapshot().priors(0).tried(), 4);
  RepeatMemory({}, &config_);
  EXPECT_FALSE(config_.has_memory_snapshot());
  config_.mutable_memory()->set_mode(v1::MEMORY_MODE_OFF);
  RepeatMemory(shown, &config_);
  EXPECT_FALSE(config_.has_memory_snapshot());
}

v1::RunConfig Completed(v1::RunConfig request, const v1::RunConfig& defaults = {}) {
  request.set_task("t");
  request.set_provider("p");
  const auto config = CompleteRunConfig(request, defaults);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(v1::RunConfig());
}

TEST(MemoryUseTest, IsReadWriteUnlessSaidOtherwiseAndOffInExperiments) {
  v1::RunConfig request;
  EXPECT_EQ(Completed(request).memory().mode(), v1::MEMORY_MODE_READ_WRITE);
  v1::RunConfig defaults;
  defaults.mutable_memory()->set_mode(v1::MEMORY_MODE_READ);
  EXPECT_EQ(Completed(request, defaults).memory().mode(), v1::MEMORY_MODE_READ);
  request.set_seed(3);
  v1::Trial* trial = request.mutable_trial();
  trial->set_experiment("e");
  trial->set_arm("a");
  trial->set_seed(3);
  EXPECT_EQ(Completed(request, defaults).memory().mode(), v1::MEMORY_MODE_OFF);
  request.mutable_memory()->set_mode(v1::MEMORY_MODE_READ);  // an arm that compares it
  EXPECT_EQ(Completed(request, defaults).memory().mode(), v1::MEMORY_MODE_READ);
}

TEST(MemoryUseTest, ASnapshotOfTheRequestCountsForNothing) {
  v1::RunConfig request;
  request.mutable_memory_snapshot()->add_priors()->set_tried(1000);
  EXPECT_FALSE(Completed(request).has_memory_snapshot());
}

TEST(MemoryUseTest, AnUnknownModeIsRefusedByName) {
  v1::RunConfig request;
  request.set_task("t");
  request.set_provider("p");
  request.mutable_memory()->set_mode(static_cast<v1::MemoryMode>(9));
  EXPECT_THAT(std::string(CompleteRunConfig(request, {}).status().message()),
              testing::HasSubstr("memory.mode is 9, must be"));
}

}  // namespace
}  // namespace ksearch
