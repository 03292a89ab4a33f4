// A suite's words for a result.
#include "coordinator/suites/suite_words.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

constexpr SuiteWords kWords = {"The suite's", "PASSED", "INCORRECT", "COMPILE_ERROR", "CRASHED",
                               "TIMEOUT",     3};

void AddWorkload(v1::JobResult* result, const std::string& uuid, int trials, int passed,
                 const std::string& message = "") {
  v1::WorkloadResult* const workload = result->add_workloads();
  workload->set_workload_uuid(uuid);
  workload->mutable_suite_verdict()->set_trials(trials);
  workload->mutable_suite_verdict()->set_passed(passed);
  workload->mutable_suite_verdict()->set_message(message);
}

std::string Said(const v1::JobResult& result) {
  const auto score = VerdictScore(kWords, result);
  return score.has_value() ? score->name() + ": " + score->verdict() + "; " + score->note()
                           : "nothing";
}

TEST(SuiteWordsTest, AllTrialsOfAllWorkloadsMustPass) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  EXPECT_EQ(Said(result), "nothing");  // no suite's rule
  AddWorkload(&result, "a", 3, 3);
  EXPECT_EQ(Said(result), "The suite's verdict: PASSED; 3 of 3 trials right on 1 workload");
  AddWorkload(&result, "b", 3, 2, "output 'c': 5 of 9 elements wrong");
  EXPECT_EQ(Said(result),
            "The suite's verdict: INCORRECT; 5 of 6 trials right on 2 workloads; b: output 'c': 5 "
            "of 9 elements wrong; ksearch's own rules say passed");
}

TEST(SuiteWordsTest, WhatKsearchAloneRefusesIsTold) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_INPUT_MODIFIED);
  AddWorkload(&result, "a", 3, 3);
  EXPECT_EQ(Said(result),
            "The suite's verdict: PASSED; 3 of 3 trials right on 1 workload; ksearch's own rules "
            "say input_modified");
}

TEST(SuiteWordsTest, FewerTrialsThanTheRuleMakesAreTold) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  AddWorkload(&result, "a", 2, 2);
  EXPECT_EQ(Said(result),
            "The suite's verdict: PASSED; 2 of 2 trials right on 1 workload; its rule makes 3 on "
            "each");
}

TEST(SuiteWordsTest, OtherEndingsHaveTheirWords) {
  for (const auto& [outcome, word] : {std::pair(v1::OUTCOME_COMPILE_ERROR, "COMPILE_ERROR"),
                                      std::pair(v1::OUTCOME_LOAD_ERROR, "COMPILE_ERROR"),
                                      std::pair(v1::OUTCOME_RUNTIME_ERROR, "CRASHED"),
                                      std::pair(v1::OUTCOME_TIMEOUT, "TIMEOUT")}) {
    v1::JobResult result;
    result.set_outcome(outcome);
    EXPECT_EQ(VerdictScore(kWords, result)->verdict(), word);
  }
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_TASK_ERROR);
  EXPECT_FALSE(VerdictScore(kWords, result).has_value());
}

}  // namespace
}  // namespace ksearch
