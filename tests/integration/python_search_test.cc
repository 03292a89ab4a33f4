// A whole search in Python, with real programs, on a task whose own programs are C++: prompts
// report failures in Python's terms, and a correct, faster program is confirmed. Skipped if
// /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/scripted_run.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PythonSearchTest, FailuresAreMendedAndTheRightProgramIsConfirmed) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  if (!HasTorch()) {
    GTEST_SKIP() << kPython << " has no torch";
  }
  ScriptedRun run("small_matmul_f32", "tests/integration/data/python_matmul.cassette.textproto",
                  "tests/integration/data/crash_run.textproto",
                  {"--language", "python", "--rounds", "5", "--stagnation", "4"}, kPythonToolchain);
  run.AwaitEnd(absl::Minutes(8));

  std::vector<std::string> candidates, outcomes;  // by attempt
  for (const std::string& row :
       run.Rows("SELECT candidate_id || ' ' || outcome FROM candidates JOIN results USING (job_id) "
                "ORDER BY round")) {
    const std::vector<std::string> words = absl::StrSplit(row, ' ');
    ASSERT_EQ(words.size(), 2u) << row;
    candidates.push_back(words[0]);
    outcomes.push_back(words[1]);
  }
  ASSERT_GE(outcomes.size(), 4u);
  outcomes.resize(4);
  EXPECT_THAT(outcomes, ElementsAre("OUTCOME_COMPILE_ERROR", "OUTCOME_RUNTIME_ERROR",
                                    "OUTCOME_INCORRECT", "OUTCOME_PASSED"));

  // The prompt for each program says how the previous one failed.
  const auto show = [&](const std::string& candidate) {
    return run.cluster().Cli({"show", "last", candidate, "--calls"}).out;
  };
  EXPECT_THAT(show(candidates[0]),
              AllOf(HasSubstr("def run(a, b, c):"), HasSubstr("def run(a, b):"),
                    HasSubstr("x86-64"), HasSubstr("; python 3."), HasSubstr(", torch ")));
  EXPECT_THAT(show(candidates[1]),
              AllOf(HasSubstr("is not valid Python"), HasSubstr("kernel.py:4")));
  EXPECT_THAT(show(candidates[2]), AllOf(HasSubstr("RuntimeError at line 5"),
                                         HasSubstr("shapes that do not fit each other")));
  EXPECT_THAT(show(candidates[3]), HasSubstr("computed wrong values"));

  EXPECT_THAT(run.Rows("SELECT candidate_id FROM events WHERE kind = 'NEW_INCUMBENT'"),
              ElementsAre(candidates[3]));
  EXPECT_EQ(run.Status().best().candidate_id(), candidates[3]);
  EXPECT_GT(run.Status().best().speedup_low(), 1.0);
  EXPECT_THAT(run.cluster().Cli({"best", "last", "--source"}).out,
              AllOf(HasSubstr("# ---- kernel.py\n\"\"\"One call"),
                    HasSubstr("# ---- product.py\nimport torch")));
}

}  // namespace
}  // namespace ksearch
