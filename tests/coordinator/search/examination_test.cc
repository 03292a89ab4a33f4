#include "coordinator/search/examination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "coordinator/world_model/world_model.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kOneAction[] =
    "ops { insert { node_id: 'a' parent_id: 'root' node { title: 'a' score: 0.9 difficulty: 2 } } "
    "}";

SearchContext GpuContext(int rounds, int window = 3) {
  SearchContext context = TestContext(/*paper=*/false, rounds);
  context.task.set_device(v1::DEVICE_CLASS_CUDA);
  context.config.mutable_world_model()->set_stagnation_window(window);
  context.config.mutable_world_model()->set_learn_from_confirmations(true);
  context.config.mutable_world_model()->set_examine_new_bests(true);
  return context;
}

// First a racy program, repaired on request, then better and worse ones.
std::string Reply(const AskModel& ask) {
  const std::string& node = ask.labels.node_id;
  if (ask.labels.purpose == "init") return kOneAction;
  if (ask.labels.purpose == "refine") {
    return absl::StrCat("ops { insert { parent_id: '", node, "' node_id: '", node,
                        "x' node { title: 'x' difficulty: 2 score: 0.95 } } }");
  }
  if (ask.role == "world_model") return "";
  if (absl::StartsWith(ask.user, "kind=repair")) return absl::StrCat(node, " repaired score=1.9");
  if (ask.labels.purpose == "action") return absl::StrCat(node, " racy score=2");
  if (ask.labels.attempt == 3) return absl::StrCat(node, " slower score=1.5");
  return absl::StrCat(node, " call ", ask.call_number, " score=", 3 + 0.1 * ask.labels.attempt);
}

v1::JobResult Race(const ExamineCandidate& candidate) {
  v1::JobResult result;
  result.mutable_sanitizer()->mutable_time()->set_seconds(1);
  const bool racy = absl::StrContains(candidate.sources.files(0).content(), "racy");
  result.set_outcome(racy ? v1::OUTCOME_INCORRECT : v1::OUTCOME_PASSED);
  if (racy) result.set_message("a race in k, at kernel.cu:42");
  return result;
}

std::string IdOf(const std::string& text) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  sources.add_files()->set_path("kernel.cpp");
  sources.mutable_files(0)->set_content(text);
  return CandidateId(sources);
}

const AskModel* FindCall(const SearchDriver& driver, const std::string& beginning) {
  for (const AskModel& ask : driver.asked) {
    if (absl::StartsWith(ask.user, beginning)) return &ask;
  }
  return nullptr;
}

TEST(ExaminationTest, ARefusedProgramIsMendedBeforeAnythingElseIsAsked) {
  SearchDriver driver(GpuContext(4), Reply);
  driver.examine = Race;
  driver.Start();
  while (driver.examined.empty()) ASSERT_TRUE(driver.Step());
  EXPECT_EQ(driver.examined[0].tag, "cycle/1/attempt/1/examine");
  EXPECT_EQ(driver.examined[0].candidate_id, IdOf("a racy score=2"));
  v1::RunStatus status;
  driver.strategy().Describe(&status);
  EXPECT_EQ(status.cycles(0).phase(), "examining");
  const size_t asked = driver.asked.size();
  ASSERT_TRUE(driver.Step());
  ASSERT_EQ(driver.asked.size(), asked + 1);
  EXPECT_THAT(driver.asked.back().user,
              AllOf(HasSubstr("kind=repair node=a "), HasSubstr("current=[a racy score=2]"),
                    HasSubstr("confirmation=refused:a race in k, at kernel.cu:42")));
  EXPECT_FALSE(driver.state().cycles(0).progress().has_best());
  EXPECT_EQ(FindNode(driver.tree(), "a")->refusals(), 1);
  EXPECT_FALSE(driver.state().log().screened().at(IdOf("a racy score=2")).passed());
  driver.Run();
  EXPECT_EQ(driver.state().rounds_done(), 4) << "an examination is no round";
  EXPECT_EQ(driver.state().solutions().count(IdOf("a racy score=2")), 0u);
  EXPECT_THAT(driver.state().log().confirmed().at(IdOf("a racy score=2")).verdict(), "incorrect");
  for (const AskModel& ask : driver.asked) {
    EXPECT_THAT(ask.user, Not(HasSubstr("base=[a racy score=2]")));
  }
}

TEST(ExaminationTest, OnlyAProgramThatWouldBeTheBestIsExamined) {
  SearchDriver driver(GpuContext(4), [](const AskModel& ask) {
    const std::string reply = Reply(ask);
    return absl::StrContains(reply, "racy") ? "a sound score=2" : reply;
  });
  driver.Start();
  driver.Run();
  // Attempts score 2, 3.2, 1.5 and 3.4: the third is not a new best.
  ASSERT_THAT(driver.screened, SizeIs(4));
  ASSERT_THAT(driver.examined, SizeIs(3));
  EXPECT_EQ(driver.examined[2].tag, "cycle/1/attempt/4/examine");
  EXPECT_THAT(driver.state().log().confirmed(), IsEmpty()) << "nothing was found";
}

TEST(ExaminationTest, TheProgramIsProfiledAfterwardsUnlessItWasRefused) {
  for (const bool race : {false, true}) {
    SCOPED_TRACE(race);
    SearchContext context = GpuContext(1);
    context.config.set_rounds(2);
    context.config.set_profile(v1::PROFILE_POLICY_ALL);
    SearchDriver driver(context, Reply);
    if (race) driver.examine = Race;
    driver.Start();
    while (driver.examined.empty()) ASSERT_TRUE(driver.Step());
    EXPECT_THAT(driver.profiled, IsEmpty());
    ASSERT_TRUE(driver.Step());
    EXPECT_THAT(driver.profiled, SizeIs(race ? 0 : 1));
    driver.Run();
  }
}

TEST(ExaminationTest, AToolsWordAloneRefusesNothingAndIsTold) {
  SearchDriver driver(GpuContext(2), Reply);
  driver.examine = [](const ExamineCandidate&) {
    v1::JobResult result;
    result.set_outcome(v1::OUTCOME_PASSED);
    result.mutable_sanitizer()->mutable_time()->set_seconds(1);
    result.mutable_sanitizer()->add_findings()->set_tool("racecheck");
    return result;
  };
  driver.Start();
  driver.Run();
  EXPECT_NE(FindCall(driver, "kind=improve node=a "), nullptr);
  EXPECT_EQ(FindCall(driver, "kind=repair"), nullptr);
}

TEST(ExaminationTest, AWorkerWithoutAToolIsNotAskedAgain) {
  SearchDriver driver(GpuContext(4), Reply);
  driver.examine = [](const ExamineCandidate&) {
    v1::JobResult result;
    result.set_outcome(v1::OUTCOME_PASSED);
    result.mutable_sanitizer()->set_note("no compute-sanitizer");
    return result;
  };
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.examined, SizeIs(1));
  EXPECT_EQ(driver.state().log().examining_refused(), "no compute-sanitizer");
  EXPECT_EQ(driver.state().log().passed(), 4);
}

TEST(ExaminationTest, LostWorkersSayNothing) {
  SearchDriver driver(GpuContext(2), Reply);
  driver.examine = [](const ExamineCandidate&) {
    v1::JobResult result;
    result.set_outcome(v1::OUTCOME_WORKER_LOST);
    return result;
  };
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.examined, SizeIs(2)) << "the next new best is tried again";
  EXPECT_EQ(FindCall(driver, "kind=repair"), nullptr);
}

TEST(ExaminationTest, ANodeWhoseMendsDoNotHoldIsClosed) {
  SearchDriver driver(GpuContext(10, /*window=*/9), [](const AskModel& ask) -> std::string {
    if (ask.role == "world_model") return Reply(ask);
    return absl::StrCat("racy ", ask.call_number, " score=2");
  });
  driver.examine = Race;
  driver.Start();
  for (int i = 0; i < 200 && driver.Step(); ++i) {
    const v1::Node* node = FindNode(driver.tree(), "a");
    if (node != nullptr && node->closed_too_hard()) break;
  }
  EXPECT_TRUE(FindNode(driver.tree(), "a")->closed_too_hard());
  EXPECT_THAT(driver.examined, SizeIs(3));
}

TEST(ExaminationTest, NothingIsExaminedOnACpuInPresetPaperOrWithoutTheSetting) {
  for (int other = 0; other < 4; ++other) {
    SCOPED_TRACE(other);
    SearchContext context = GpuContext(3);
    v1::WorldModelSettings* settings = context.config.mutable_world_model();
    if (other == 0) context.task.set_device(v1::DEVICE_CLASS_CPU);
    if (other == 1) settings->set_preset(v1::PRESET_PAPER);
    if (other == 2) settings->clear_examine_new_bests();
    if (other == 3) settings->set_learn_from_confirmations(false);
    SearchDriver driver(context, Reply);
    driver.Start();
    driver.Run();
    EXPECT_THAT(driver.examined, IsEmpty());
    EXPECT_FALSE(driver.screened.empty());
  }
}

}  // namespace
}  // namespace ksearch
