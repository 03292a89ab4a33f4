// A whole search, with real programs, in which the model cheats: a dishonest program must not
// become the incumbent, whatever its screening said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/integration/scripted_run.h"

namespace ksearch {
namespace {

using testing::ElementsAre;

constexpr char kHonest[] = "at_once";

TEST(HostileSearchTest, OnlyTheHonestCandidateBecomesTheIncumbent) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  // One attempt a node that fails, two a node that passes.
  ScriptedRun run("small_matmul_f32", "tests/integration/data/hostile.cassette.textproto",
                  "tests/integration/data/crash_run.textproto",
                  {"--rounds", "10", "--stagnation", "1"});
  run.AwaitEnd(absl::Minutes(10));

  std::map<std::string, std::string> candidates, outcomes;  // by node
  for (const std::string& row : run.Rows(
           "SELECT node_id || ' ' || candidate_id || ' ' || outcome FROM candidates JOIN results "
           "USING (job_id)")) {
    const std::vector<std::string> words = absl::StrSplit(row, ' ');
    ASSERT_EQ(words.size(), 3u) << row;
    candidates[words[0]] = words[1];
    outcomes[words[0]] = words[2];
    std::printf("%s: %s\n", words[0].c_str(), words[2].c_str());
  }
  std::vector<std::string> nodes;
  for (const auto& [node, candidate] : candidates) nodes.push_back(node);
  ASSERT_THAT(nodes, ElementsAre(kHonest, "cached_output", "changed_input", "forged_result",
                                 "forged_times", "late_thread", "own_clock", "stale_output"));
  // The clock that it defines is not the one that the runner reads: right, and no faster.
  for (const auto& [node, outcome] : outcomes) {
    EXPECT_EQ(outcome == "OUTCOME_PASSED", node == kHonest || node == "own_clock")
        << node << ": " << outcome;
  }
  EXPECT_THAT(run.Rows("SELECT candidate_id FROM events WHERE kind = 'NEW_INCUMBENT'"),
              ElementsAre(candidates[kHonest]));
  EXPECT_EQ(run.Status().best().candidate_id(), candidates[kHonest]);
  EXPECT_GT(run.Status().best().speedup_low(), 2.0);
}

}  // namespace
}  // namespace ksearch
