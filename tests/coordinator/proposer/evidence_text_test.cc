#include "coordinator/proposer/evidence_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/proposer/task_text.h"
#include "tests/coordinator/proposer/prompt_fixture.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(EvidenceTextTest, EveryOutcomeHasItsOwnWords) {
  std::set<std::string> texts;
  for (int i = v1::OUTCOME_PASSED; v1::Outcome_IsValid(i); ++i) {
    texts.insert(OutcomeText(static_cast<v1::Outcome>(i)));
  }
  EXPECT_EQ(texts.size(), static_cast<size_t>(v1::Outcome_MAX));
}

TEST(EvidenceTextTest, QuotedTextCannotCloseItsTag) {
  const std::string text = QuotedData("log", "a</data>\x1b b <data name=\"x\">");
  EXPECT_EQ(text, "<data name=\"log\">\na<\\/data>? b <\\data name=\"x\">\n</data>\n");
  EXPECT_THAT(QuotedData("log", " \n"), IsEmpty());
}

TEST(EvidenceTextTest, APassedResultHasNoFailureText) {
  EXPECT_THAT(FailureText(SmallFacts(), PassedResult()), IsEmpty());
  EXPECT_THAT(PerformanceText(SmallFacts(), FailedResult()), IsEmpty());
}

TEST(EvidenceTextTest, SuspicionsAreToldEvenOfAPass) {
  v1::JobResult result = PassedResult();
  result.add_suspicions("audit_clock: 3.1x");
  EXPECT_THAT(FailureText(SmallFacts(), result), HasSubstr("audit_clock: 3.1x"));
}

TEST(EvidenceTextTest, LogIsShownWhenThereAreNoDiagnostics) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_COMPILE_ERROR);
  result.mutable_build()->set_log_excerpt("FIRST" + std::string(9000, 'x') + "LAST");
  const std::string text = FailureText(SmallFacts(), result);
  EXPECT_THAT(text, HasSubstr("FIRST"));
  EXPECT_THAT(text, Not(HasSubstr("LAST")));
  EXPECT_LT(text.size(), 4000u);
}

// Long messages keep their beginning; only languages with tracebacks show several lines.
TEST(EvidenceTextTest, MessagesOfCppAndCudaAreOneLine) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_LOAD_ERROR);
  PromptFacts facts = SmallFacts();
  for (const v1::Language language : {v1::LANGUAGE_CPP, v1::LANGUAGE_CUDA}) {
    facts.language = language;
    result.set_message("kernel.so:\n  undefined symbol: f\r\nand g");
    EXPECT_EQ(FailureText(facts, result),
              absl::StrCat("Outcome: ", OutcomeText(result.outcome()),
                           ".\n<data name=\"message\">\nkernel.so:   undefined symbol: f and g\n"
                           "</data>\n"));
    result.set_message("FIRST\n" + std::string(3000, 'x') + "\nLAST");
    EXPECT_THAT(FailureText(facts, result),
                AllOf(HasSubstr("FIRST xxx"), HasSubstr("xxx...\n"), Not(HasSubstr("LAST"))));
  }
  facts.language = v1::LANGUAGE_PYTHON;
  EXPECT_THAT(FailureText(facts, result), AllOf(Not(HasSubstr("FIRST")), HasSubstr("\nLAST\n")));
}

TEST(EvidenceTextTest, KnownBaselineStandsInForAMissingOne) {
  v1::JobResult result = PassedResult();
  result.mutable_workloads(0)->clear_baseline();
  EXPECT_THAT(PerformanceText(SmallFacts(), result),
              HasSubstr("baseline 12.500 us, speed-up 2.500"));
}

TEST(EvidenceTextTest, ThePacketIsQuotedAndCannotCloseItsTag) {
  v1::JobResult result;
  v1::KernelFacts* kernel = result.mutable_build()->add_kernels();
  kernel->set_name("k</data>");
  kernel->set_registers(40);
  v1::Diagnostic* warning = result.mutable_build()->add_diagnostics();
  warning->set_severity("warning");
  warning->set_message("wgmma is serialized");
  result.set_outcome(v1::OUTCOME_INCORRECT);
  const std::string text = PacketText(SmallFacts(), result, nullptr);
  EXPECT_THAT(text, HasSubstr("<data name=\"compiler and profiler\">\nk<\\/data>: 40 registers"));
  EXPECT_THAT(text, HasSubstr("wgmma is serialized"));
  // Shown only once.
  EXPECT_THAT(FailureText(SmallFacts(), result), Not(HasSubstr("40 registers")));
  EXPECT_THAT(PacketText(SmallFacts(), PassedResult(), nullptr), IsEmpty());
}

TEST(EvidenceTextTest, HeldOutIdsAreReplacedAsWholeWords) {
  v1::Task task = SmallTask();
  task.mutable_workloads(2)->set_uuid("w1");
  EXPECT_EQ(WithoutHeldOut(task, "w1: bad; w10, row1, w1"),
            "(withheld): bad; w10, row1, (withheld)");
}

}  // namespace
}  // namespace ksearch
