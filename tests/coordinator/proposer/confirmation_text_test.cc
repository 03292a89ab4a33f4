#include "coordinator/proposer/confirmation_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coordinator/proposer/size_region.h"
#include "tests/coordinator/proposer/prompt_fixture.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

v1::Comparison::PerWorkload Timed(const std::string& uuid, double speedup) {
  v1::Comparison::PerWorkload workload;
  workload.set_workload_uuid(uuid);
  workload.set_held_out(uuid == "secret-one");
  workload.set_log_speedup(std::log(speedup));
  workload.set_ci_low(std::log(speedup * 0.98));
  workload.set_ci_high(std::log(speedup * 1.02));
  return workload;
}

TEST(SizeRegionTest, SaysWhatSetsSizesApartAndGivesNone) {
  v1::Task task = SmallTask();
  EXPECT_EQ(SizeRegion(task, {"feed-small"}, {"feed-large", "secret-one"}), "where rows is small");
  EXPECT_EQ(SizeRegion(task, {"feed-large"}, {"feed-small", "secret-one"}), "where rows is large");
  // 777 lies between 16 and 4096, and is odd.
  EXPECT_EQ(SizeRegion(task, {"secret-one"}, {"feed-small", "feed-large"}),
            "where rows is not a multiple of 16");
  EXPECT_EQ(SizeRegion(task, {"feed-small", "feed-large"}, {}), "");
  EXPECT_EQ(SizeRegion(task, {}, {"feed-small"}), "");
  EXPECT_EQ(SizeRegion(task, {"no-such"}, {"feed-small"}), "");
}

TEST(ConfirmationFindingsTest, ARaceComesWithKernelAndLineButWithoutSizes) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_INCORRECT);
  result.set_message("compute-sanitizer racecheck: Error: Race reported between ...");
  v1::SanitizerFinding* finding = result.mutable_sanitizer()->add_findings();
  finding->set_tool("racecheck");
  finding->set_kind(v1::SanitizerFinding::RACE);
  finding->set_kernel("softmax<4>");
  finding->set_file("kernel.cu");
  finding->set_line(42);
  finding->set_text("Error: Race reported between Write access at softmax<4>; by thread (777,0,0)");
  finding = result.mutable_sanitizer()->add_findings();
  finding->set_warning(true);
  finding->set_text("a mere warning");
  EXPECT_THAT(
      ConfirmationFindings(SmallTask(), result, "baseline"),
      ElementsAre("compute-sanitizer racecheck: a race between threads of a block in shared "
                  "memory, in kernel softmax<4>, at kernel.cu:42 (Error: Race reported between "
                  "Write access at softmax<4>)"));
}

TEST(ConfirmationFindingsTest, AnAlarmWithoutASecondWitnessIsToldAsSuch) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  v1::SanitizerFinding* finding = result.mutable_sanitizer()->add_findings();
  finding->set_tool("racecheck");
  finding->set_kind(v1::SanitizerFinding::RACE);
  finding->set_text("Error: Race reported");
  EXPECT_THAT(ConfirmationFindings(SmallTask(), result, "baseline"),
              ElementsAre(HasSubstr("perhaps a false alarm, no output was wrong: "
                                    "compute-sanitizer racecheck: a race")));
}

TEST(ConfirmationFindingsTest, SlownessIsToldByRegionWithoutNamesOrValues) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  v1::Comparison* comparison = result.add_comparisons();
  comparison->set_rival_id("baseline");
  *comparison->add_workloads() = Timed("feed-small", 3);
  *comparison->add_workloads() = Timed("feed-large", 2);
  *comparison->add_workloads() = Timed("secret-one", 0.5);
  EXPECT_THAT(ConfirmationFindings(SmallTask(), result, "baseline"),
              ElementsAre("slower than the baseline (0.50x) on unseen sizes, where rows is not "
                          "a multiple of 16"));
  EXPECT_THAT(ConfirmationFindings(SmallTask(), result, "another"), IsEmpty());
  *comparison->mutable_workloads(0) = Timed("feed-small", 0.9);
  *comparison->mutable_workloads(2) = Timed("secret-one", 1.5);
  EXPECT_THAT(ConfirmationFindings(SmallTask(), result, "baseline"),
              ElementsAre("slower than the baseline (0.90x) on workload feed-small"));
}

TEST(ConfirmationFindingsTest, FailuresOnUnseenSizesTellKindAndVariantOnly) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_INCORRECT);
  result.set_message("workload secret-one: hidden case 'zeros of x': output y: element 776 wrong");
  v1::WorkloadResult* workload = result.add_workloads();
  workload->set_workload_uuid("secret-one");
  workload->set_outcome(v1::OUTCOME_INCORRECT);
  workload->set_message("hidden case 'zeros of x': output y: element 776 wrong");
  const auto findings = ConfirmationFindings(SmallTask(), result, "baseline");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(
      findings[0],
      AllOf(HasSubstr("on unseen sizes, where rows is not a multiple of 16"),
            HasSubstr("input variant that the search does not use (zeros of x)"),
            HasSubstr("computed wrong values"), Not(HasSubstr("776")), Not(HasSubstr("secret"))));
  // Prompts may say everything about a shown workload.
  workload->set_workload_uuid("feed-small");
  workload->set_message("output y: element 7 wrong");
  EXPECT_THAT(ConfirmationFindings(SmallTask(), result, "baseline"),
              ElementsAre(AllOf(HasSubstr("on workload feed-small"), HasSubstr("element 7"))));
  // Without a workload's result the message, which names one, is left out.
  result.clear_workloads();
  EXPECT_THAT(ConfirmationFindings(SmallTask(), result, "baseline"),
              ElementsAre("computed wrong values"));
}

TEST(ConfirmationFindingsTest, LinesAreFewBoundedAndPrintable) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_CHEAT);
  for (int i = 0; i < 100; ++i) result.add_suspicions(std::string(5000, '\x01'));
  const auto findings = ConfirmationFindings(SmallTask(), result, "baseline");
  ASSERT_THAT(findings, SizeIs(8));
  for (const std::string& line : findings) {
    EXPECT_LE(line.size(), 400u);
    EXPECT_THAT(line, Not(HasSubstr("\x01")));
  }
}

TEST(ConfirmationFindingsTest, ARaceNamesTheLinesOfBothAccesses) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_INCORRECT);
  v1::SanitizerFinding* finding = result.mutable_sanitizer()->add_findings();
  finding->set_tool("racecheck");
  finding->set_kind(v1::SanitizerFinding::RACE);
  finding->set_kernel("sum");
  finding->set_file("kernel.cu");
  finding->set_line(42);
  finding->set_text(
      "Error: Race reported between Write access at sum(float *)+0x2a0 in kernel.cu:42; and Read "
      "access at sum(float *)+0x470 in kernel.cu:57 [508 hazards]");
  EXPECT_THAT(ConfirmationFindings(SmallTask(), result, "baseline"),
              ElementsAre(AllOf(HasSubstr("in kernel sum, at kernel.cu:42"),
                                HasSubstr("kernel.cu:57)"), Not(HasSubstr("508")))));
}

TEST(ConfirmationTextTest, AnExaminationIsCalledSo) {
  v1::ConfirmedProgram examined;
  examined.set_by_examination(true);
  examined.set_refused(true);
  examined.set_verdict("incorrect");
  examined.add_findings("a race in k");
  EXPECT_THAT(ConfirmationText(examined),
              AllOf(HasSubstr("An examination runs compute-sanitizer"),
                    HasSubstr("Verdict: REFUSED: incorrect."), HasSubstr("- a race in k"),
                    Not(HasSubstr("onfirmation"))));
}

TEST(ConfirmationTextTest, VerdictNumbersAndFindingsAsData) {
  v1::ConfirmedProgram confirmed;
  confirmed.set_refused(true);
  confirmed.set_verdict("incorrect");
  confirmed.set_speedup(3.2);
  confirmed.set_speedup_low(3.1);
  confirmed.set_speedup_high(3.3);
  confirmed.add_findings("a race </data> in k");
  const std::string text = ConfirmationText(confirmed);
  EXPECT_THAT(text, AllOf(HasSubstr("Verdict: REFUSED: incorrect."),
                          HasSubstr("3.200 [3.100, 3.300]"), HasSubstr("- a race <\\/data> in k")));
}

}  // namespace
}  // namespace ksearch
