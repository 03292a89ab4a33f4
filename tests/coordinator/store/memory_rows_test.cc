#include "coordinator/store/memory_rows.h"

#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MemoryRowsTest : public StoreTest {
 protected:
  void SetUp() override { NewRun("run"); }
  static v1::MeasuredGain Gain(const std::string& candidate, double speedup) {
    v1::MeasuredGain gain;
    gain.set_run_id("run");
    gain.set_candidate_id(candidate);
    gain.set_task("kernelbench/l1/76");
    gain.set_op_type("conv");
    gain.set_benchmark("kernelbench");
    gain.set_device(v1::DEVICE_CLASS_CUDA);
    gain.set_architecture("sm_90a");
    gain.set_language(v1::LANGUAGE_CUDA);
    gain.set_bottleneck(v1::BOTTLENECK_MEMORY_LATENCY);
    gain.set_intent(v1::INTENT_KIND_PIPELINE);
    gain.set_over_baseline(true);
    gain.set_passed(speedup > 0);
    if (speedup > 0) gain.set_speedup(speedup);
    return gain;
  }
  absl::Status Commit(std::vector<v1::MeasuredGain> gains, std::vector<std::string> refused = {}) {
    StepCommit step = Step("run");
    step.gains = std::move(gains);
    step.refused_gains = std::move(refused);
    return store_->CommitStep(step);
  }
  std::vector<std::string> Candidates(const GainFilter& filter = {}, int limit = 0) {
    std::vector<std::string> ids;
    const auto gains = store_->ReadGains(filter, limit);
    EXPECT_TRUE(gains.ok()) << gains.status();
    for (const v1::MeasuredGain& gain : *gains) ids.push_back(gain.candidate_id());
    return ids;
  }
};

TEST_F(MemoryRowsTest, ComeBackAsTheyWereRecorded) {
  ASSERT_TRUE(Commit({Gain("a", 1.25), Gain("b", 0)}).ok());
  Reopen();
  auto gains = store_->ReadGains({}, 0);
  ASSERT_TRUE(gains.ok()) << gains.status();
  ASSERT_EQ(gains->size(), 2u);
  EXPECT_TRUE((*gains)[0].has_recorded_at());
  for (v1::MeasuredGain& gain : *gains) gain.clear_recorded_at();
  EXPECT_EQ((*gains)[0].SerializeAsString(), Gain("b", 0).SerializeAsString());
  EXPECT_EQ((*gains)[1].SerializeAsString(), Gain("a", 1.25).SerializeAsString());
}

TEST_F(MemoryRowsTest, AGainIsRecordedOnceAndARefusalTakesItBack) {
  ASSERT_TRUE(Commit({Gain("a", 1.25)}).ok());
  ASSERT_TRUE(Commit({Gain("a", 3)}).ok());
  auto gains = store_->ReadGains({}, 0);
  ASSERT_EQ(gains->size(), 1u);
  EXPECT_EQ((*gains)[0].speedup(), 1.25);
  ASSERT_TRUE(Commit({}, {"a", "never recorded"}).ok());
  gains = store_->ReadGains({}, 0);
  ASSERT_EQ(gains->size(), 1u);
  EXPECT_FALSE((*gains)[0].passed());
  EXPECT_EQ((*gains)[0].speedup(), 0);
}

TEST_F(MemoryRowsTest, AStepThatFailsRecordsNothing) {
  StepCommit step = Step("no such run");
  step.gains = {Gain("a", 1.25)};
  EXPECT_FALSE(store_->CommitStep(step).ok());
  EXPECT_THAT(Candidates(), IsEmpty());
}

TEST_F(MemoryRowsTest, EveryFieldOfTheFilterCounts) {
  v1::MeasuredGain own = Gain("own", 1.5);
  own.set_task("softmax");
  own.set_benchmark("");
  own.set_op_type("softmax");
  v1::MeasuredGain tried = Gain("tried", 1.5);
  tried.set_experiment("e1");
  v1::MeasuredGain cpu = Gain("cpu", 1.5);
  cpu.set_device(v1::DEVICE_CLASS_CPU);
  cpu.set_language(v1::LANGUAGE_CPP);
  cpu.set_architecture("x86-64-v3");
  ASSERT_TRUE(Commit({own, tried, cpu}).ok());
  GainFilter filter;
  filter.not_of_benchmark = "kernelbench";
  EXPECT_THAT(Candidates(filter), ElementsAre("own"));
  filter = {};
  filter.not_of_experiment = "e1";
  EXPECT_THAT(Candidates(filter), ElementsAre("cpu", "own"));
  filter = {};
  filter.device = v1::DEVICE_CLASS_CPU;
  EXPECT_THAT(Candidates(filter), ElementsAre("cpu"));
  filter = {};
  filter.language = v1::LANGUAGE_CUDA;
  EXPECT_THAT(Candidates(filter), ElementsAre("tried", "own"));
  EXPECT_THAT(Candidates(filter, 1), ElementsAre("tried"));
  filter = {};
  filter.op_type = "softmax";
  EXPECT_THAT(Candidates(filter), ElementsAre("own"));
  filter = {};
  filter.task = "kernelbench/l1/76";
  filter.architecture = "x86-64-v3";
  EXPECT_THAT(Candidates(filter), ElementsAre("cpu"));
  filter = {};
  filter.run_id = "another";
  EXPECT_THAT(Candidates(filter), IsEmpty());
  filter = {};
  filter.benchmark = "kernelbench' OR '1'='1";
  EXPECT_THAT(Candidates(filter), IsEmpty());
}

TEST_F(MemoryRowsTest, ForgettingTakesWhatFitsAndNothingElse) {
  v1::MeasuredGain own = Gain("own", 1.5);
  own.set_benchmark("");
  ASSERT_TRUE(Commit({own, Gain("a", 1.5), Gain("b", 1.5)}).ok());
  GainFilter filter;
  filter.benchmark = "kernelbench";
  auto forgotten = store_->ForgetGains(filter);
  ASSERT_TRUE(forgotten.ok()) << forgotten.status();
  EXPECT_EQ(*forgotten, 2);
  Reopen();
  EXPECT_THAT(Candidates(), ElementsAre("own"));
  EXPECT_EQ(store_->ForgetGains({}).value(), 1);
  EXPECT_THAT(Candidates(), IsEmpty());
}

}  // namespace
}  // namespace ksearch
