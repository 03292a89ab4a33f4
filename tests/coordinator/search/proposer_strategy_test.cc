// The strategy with the real prompts and parsers, and replies in the form that models use.
#include <gtest/gtest.h>

#include <deque>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/search/strategy_factory.h"
#include "coordinator/world_model/world_model.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

constexpr char kInit[] = R"(The loop is bound by memory.
```json
{"kernel_summary": "one pass",
 "open_questions": ["vector width?"],
 "nodes": [
  {"node_id": "vectorize", "parent_id": "root", "decision": "width", "choice": "four lanes",
   "action": {"title": "Four per step", "difficulty_1_to_5": 2, "score_0_to_1": 0.9}},
  {"node_id": "stream", "parent_id": "root", "decision": "stores", "choice": "non-temporal",
   "action": {"title": "Streaming stores", "difficulty_1_to_5": 2, "score_0_to_1": 0.6}},
  {"node_id": "plain", "parent_id": "root", "decision": "width", "choice": "one lane",
   "action": {"title": "Plain loop", "difficulty_1_to_5": 1, "score_0_to_1": 0.4}}]}
```)";

std::string ReplyTo(const AskModel& ask) {
  if (ask.labels.purpose == "init") return kInit;
  if (ask.role == "world_model") {
    return absl::StrCat(R"({"ops": [{"op": "insert_node", "parent_id": ")", ask.labels.node_id,
                        R"(", "node": {"node_id": ")", ask.labels.node_id,
                        R"(_next", "decision": "d", "choice": "c", "action": {"title": "Next of )",
                        ask.labels.node_id,
                        R"(", "difficulty_1_to_5": 2, "score_0_to_1": 0.5}}}]})");
  }
  return absl::StrCat("Here it is.\n<file path=\"kernel.cpp\">\nint ksearch_run() { return ",
                      ask.call_number, "; }\n</file>\n");
}

class ProposerStrategyTest : public ::testing::TestWithParam<bool> {};

TEST_P(ProposerStrategyTest, RunsToItsEndOnRepliesAsModelsWriteThem) {
  SearchContext context = TestContext(GetParam(), 10);
  context.config.mutable_world_model()->set_preset(GetParam() ? v1::PRESET_PAPER
                                                              : v1::PRESET_DEFAULT);
  context.task.mutable_definition()->set_name("vecadd");
  context.kernel_header = "#pragma once\n";
  context.target_hardware = "a CPU";
  context.task.add_workloads()->set_uuid("w1");
  auto strategy = MakeStrategy(context);
  ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();

  std::deque<AskModel> asks;
  std::deque<ScreenCandidate> screens;
  int events_of_trouble = 0;
  bool screened = false;
  StepOutput out = (*strategy)->Start();
  for (int step = 0; step < 200; ++step) {
    for (const AskModel& ask : out.asks) {
      const std::string prompt = ask.system + ask.user;
      EXPECT_FALSE(ask.user.empty());
      // Prompts keep the first measurement, so that they do not change with noise.
      // The published world-model prompts leave the baseline out.
      const bool shown = screened && !(GetParam() && ask.role == "world_model");
      EXPECT_EQ(absl::StrContains(prompt, "w1: ; baseline 100.000 us"), shown) << prompt;
      asks.push_back(ask);
    }
    for (const ScreenCandidate& screen : out.screens) screens.push_back(screen);
    for (const v1::RunEvent& event : out.events) {
      const bool trouble = event.kind() == v1::RunEvent::REPLY_UNUSABLE ||
                           event.kind() == v1::RunEvent::EDIT_REJECTED;
      if (trouble) ADD_FAILURE() << event.text();
      events_of_trouble += trouble;
    }
    if (out.finished) break;
    if (!asks.empty()) {
      ModelAnswer answer;
      answer.call_number = asks.front().call_number;
      answer.reply.text = ReplyTo(asks.front());
      asks.pop_front();
      out = (*strategy)->OnAnswer(answer);
    } else {
      ASSERT_FALSE(screens.empty());
      v1::JobResult result;
      result.set_outcome(screens.front().round % 4 == 1 ? v1::OUTCOME_PASSED
                                                        : v1::OUTCOME_INCORRECT);
      result.set_message("element 3 is wrong");
      result.add_workloads()->set_workload_uuid("w1");
      result.mutable_workloads(0)->mutable_candidate()->set_median_us(50.0 / screens.front().round);
      result.mutable_workloads(0)->mutable_baseline()->set_median_us(screened ? 101 : 100);
      screened = true;
      out = (*strategy)->OnScreened({screens.front().tag, result});
      screens.pop_front();
    }
  }
  EXPECT_TRUE(out.finished);
  EXPECT_EQ(out.finish_reason, "budget of 10 rounds is spent");
  EXPECT_EQ(events_of_trouble, 0);
  const v1::WorldModel& tree = *(*strategy)->world_model();
  EXPECT_TRUE(CheckInvariants(tree).ok());
  ASSERT_NE(FindNode(tree, "vectorize"), nullptr);
  EXPECT_TRUE(IsSolved(*FindNode(tree, "vectorize")));
  EXPECT_NE(FindNode(tree, "vectorize_next"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Presets, ProposerStrategyTest, ::testing::Bool());

}  // namespace
}  // namespace ksearch
