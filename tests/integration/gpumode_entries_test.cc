// Problems in GPU MODE's form whose eval.py calls functions of other names: submissions that define
// these are judged unchanged, and what such an eval.py leaves open is told. Skipped where
// /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "tests/integration/gpumode_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr char kTask[] = R"(files:
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "eval.py", "source": "eval.py"}
lang: "py"
tests:
  - {"n": 8}
benchmarks:
  - {"n": 16}
)";
constexpr char kReference[] = R"py(import torch


def make(n, seed=1):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed))


def make_more(n):
    return torch.ones(n)


def double(x):
    return x * 2


def half(x):
    return x / 2
)py";
// @DRIVE@ is what differs.
constexpr char kEvaluator[] = R"py(import sys

import reference
import submission
import torch


def drive(n):
    x = reference.make(n)
    @DRIVE@


drive(int(open(sys.argv[2]).readline().split()[1]))
)py";

struct Bad {
  const char* name;
  const char* drive;
  const char* reason;  // part of the message
};

constexpr Bad kBad[] = {
    {"open", "submission.solve(x)",
     "eval.py does not show which function of reference.py answers as solve has to"},
    {"uncompared", "reference.double(x); submission.solve(x)",
     "eval.py compares what solve returns by none of the means that are known here"},
    {"foreign", "y = x + 1; torch.allclose(reference.double(y), submission.solve(y))",
     "eval.py passes solve a value that is not part of what make returns"},
    {"two_makers",
     "y = reference.make_more(n); torch.allclose(reference.double(y), submission.solve(y))",
     "eval.py makes data by more than one function: make, make_more"},
    {"unasked", "reference.double(x)", "eval.py calls no functions of the submission"},
    {"raises", "raise RuntimeError('needs a display')", "(RuntimeError: needs a display)"},
    {"later",
     "torch.allclose(reference.double(x), submission.solve(x)); raise ValueError('no more')",
     "eval.py fails with the reference's own answers (ValueError: no more)"},
    {"status", "torch.allclose(reference.double(x), submission.solve(x)); sys.exit(112)",
     "eval.py fails with the reference's own answers (status 112)"},
    {"process", "import multiprocessing; multiprocessing.Process(target=print).start()",
     "it starts a process, which is not followed"},
};

class GpuModeEntriesTest : public GpuModeClusterTest {
 protected:
  static void SetUpTestSuite() {
    Start([] {
      for (const Bad& bad : kBad) Write(bad.name, kReference, bad.drive);
      Write("no_seed", absl::StrReplaceAll(kReference, {{"n, seed=1", "n"}, {"(seed)", "(1)"}}),
            "torch.allclose(reference.double(x), submission.solve(x))");
    });
  }
  static void Write(const std::string& name, const std::string& reference,
                    const std::string& drive) {
    WriteBad(name, {{"task.yml", kTask},
                    {"reference.py", reference},
                    {"eval.py", absl::StrReplaceAll(kEvaluator, {{"@DRIVE@", drive}})}});
  }
};

// As upstream's cross entropy, whose submissions are a function forward and one backward.
TEST_F(GpuModeEntriesTest, SubmissionsDefineWhatEvalCalls) {
  const CommandOutput described = cluster_->Cli({"task", "describe", "gpumode/other_names"});
  ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
  const CommandOutput right = Judge("other_names", "layer.py", {"--compat", "test"});
  EXPECT_EQ(right.exit.code, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("GPU MODE's verdict pass (2 of 2 trials"));
  const CommandOutput checked = Judge("other_names", "layer.py", {"--check"});
  EXPECT_EQ(checked.exit.code, 0) << checked.out << checked.err;
  const CommandOutput wrong = Judge("other_names", "layer_wrong.py", {"--check"});
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("incorrect"), HasSubstr("output 'out1'")));
  const CommandOutput half = Judge("other_names", "layer_half.py", {"--check"});
  EXPECT_EQ(half.exit.code, 7) << half.out << half.err;
  EXPECT_THAT(half.out, HasSubstr("submission.py defines no function 'layer_backward'"));
}

TEST_F(GpuModeEntriesTest, AllFunctionsAreTimedTogether) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  const CommandOutput described = cluster_->Cli({"task", "describe", "gpumode/other_names"});
  ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
  const CommandOutput ranked = Judge("other_names", "layer.py", {"--compat", "leaderboard"});
  EXPECT_EQ(ranked.exit.code, 0) << ranked.out << ranked.err;
  EXPECT_THAT(ranked.out, ContainsRegex("score on the leaderboard [0-9.e+]+us .ranking_by geom"));
}

TEST_F(GpuModeEntriesTest, WhatEvalLeavesOpenIsTold) {
  const CommandOutput all = cluster_->Cli({"task", "describe", "--suite", "bad"});
  EXPECT_EQ(all.exit.code, 3) << all.out << all.err;
  EXPECT_THAT(all.out, Not(HasSubstr(": described")));
  const CommandOutput listed = cluster_->Cli({"--json", "task", "ls", "--suite", "bad"});
  for (const Bad& bad : kBad) {
    EXPECT_THAT(listed.out, AllOf(HasSubstr(bad.name), HasSubstr(bad.reason)));
  }
  EXPECT_THAT(listed.out, HasSubstr("make takes no argument 'seed'"));
}

}  // namespace
}  // namespace ksearch
