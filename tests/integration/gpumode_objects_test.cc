// Problems in GPU MODE's form whose data holds objects: submissions get them as they are upstream,
// also those that a call changes, and objects that cannot be handed on are told by name. Skipped
// where /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/integration/gpumode_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kTask[] = R"(files:
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
tests:
  - {"n": 8, "seed": 1}
benchmarks:
  - {"n": 16, "seed": 2}
)";
// @OBJECT@ is what differs.
constexpr char kReference[] = R"py(import threading

import torch

globals()["Hidden"] = dict


class Box:
    def __init__(self, **held):
        self.__dict__.update(held)


class Unlike(Box, metaclass=type("Meta", (type,), Hidden())):
    pass


def around():
    box = Box()
    box.box = [box]
    return box


def local():
    class Local(Box):
        pass

    return Local()


def hooked():
    module = torch.nn.Linear(2, 2)
    module.register_forward_hook(lambda *_: None)
    return module


def generate_input(n, seed):
    x = torch.rand(n, generator=torch.Generator().manual_seed(seed))
    return x, @OBJECT@


def ref_kernel(data):
    return data[0] * 2


def check_implementation(data, output):
    return torch.allclose(output, ref_kernel(data)), ""
)py";

struct Bad {
  const char* name;
  const char* object;
  const char* reason;  // part of the message
};

constexpr Bad kBad[] = {
    {"lock", "Box(lock=threading.Lock())", "'x1_lock' holds a lock: only tensors"},
    {"file", "Box(file=open('/dev/null'))", "'x1_file' holds a TextIOWrapper: only tensors"},
    {"function", "Box(act=lambda value: value)", "'x1_act' holds a function: only tensors"},
    {"around", "around()", "'x1_box_0' is a Box that holds itself"},
    {"local", "local()", "'x1' holds a Local, a class that is not at the top level of a file"},
    {"hooked", "hooked()", "'x1' is a module with hooks"},
    {"unlike", "Unlike()", "NameError: name 'Hidden' is not defined"},
    {"by_case", "Box(bias=x) if n > 8 else Box()",
     "case 1 has data of another structure than case 0"},
    {"by_seed", "Box(bias=x) if x[0] > 0.5 else Box()",
     "generate_input builds other data for another seed"},
};

class GpuModeObjectsTest : public GpuModeClusterTest {
 protected:
  static void SetUpTestSuite() {
    Start([] {
      for (const Bad& bad : kBad) {
        WriteBad(bad.name,
                 {{"task.yml", kTask},
                  {"reference.py", absl::StrReplaceAll(kReference, {{"@OBJECT@", bad.object}})}});
      }
    });
  }
};

// As upstream's decoding with a cache, which is a module that a call changes.
TEST_F(GpuModeObjectsTest, SubmissionsGetTheObjectsOfData) {
  const CommandOutput described = cluster_->Cli({"task", "describe", "gpumode/cached"});
  ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
  for (const char* right : {"cached.py", "cached_elsewhere.py"}) {
    const CommandOutput judged = Judge("cached", right, {"--compat", "test"});
    EXPECT_EQ(judged.exit.code, 0) << right << judged.out << judged.err;
    EXPECT_THAT(judged.out, HasSubstr("GPU MODE's verdict pass (2 of 2 trials")) << right;
  }
  const CommandOutput checked = Judge("cached", "cached.py", {"--check"});
  EXPECT_EQ(checked.exit.code, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, Not(HasSubstr("warning"))) << "of ksearch's own files";
  const CommandOutput wrong = Judge("cached", "cached_forgets.py", {"--check"});
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("incorrect"), HasSubstr("output 'out1'")));
  // All but what the reference updates is an input as any other.
  const CommandOutput writes = Judge("cached", "cached_scales.py", {"--check"});
  EXPECT_EQ(writes.exit.code, 7) << writes.out << writes.err;
  EXPECT_THAT(writes.out, HasSubstr("input_modified"));
}

TEST_F(GpuModeObjectsTest, WhatIsUpdatedHasItsValuesInEveryCall) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  for (const char* problem : {"cached", "updates"}) {
    const CommandOutput described =
        cluster_->Cli({"task", "describe", absl::StrCat("gpumode/", problem)});
    ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
    const CommandOutput ranked =
        Judge(problem, absl::StrCat(problem, ".py"), {"--compat", "leaderboard"});
    EXPECT_EQ(ranked.exit.code, 0) << problem << ranked.out << ranked.err;
    EXPECT_THAT(ranked.out, HasSubstr("GPU MODE's score on the leaderboard")) << problem;
  }
  const CommandOutput nothing = Judge("updates", "updates_nothing.py", {"--check"});
  EXPECT_EQ(nothing.exit.code, 7) << nothing.out << nothing.err;
  EXPECT_THAT(nothing.out, HasSubstr("incorrect"));
}

// A number in a result is one of a tensor's elements for all but the problem's own check.
TEST_F(GpuModeObjectsTest, NumbersInResultsAreJudgedByTheProblemsOwnCheck) {
  const CommandOutput described = cluster_->Cli({"task", "describe", "gpumode/measures"});
  ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
  const CommandOutput right = Judge("measures", "measures.py", {"--check"});
  EXPECT_EQ(right.exit.code, 0) << right.out << right.err;
  const CommandOutput wrong = Judge("measures", "measures_one_off.py", {"--check"});
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("incorrect"), HasSubstr("the measures differ")));
  const CommandOutput other = Judge("measures", "measures_fraction.py", {"--check"});
  EXPECT_EQ(other.exit.code, 7) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("the program returned a "));
}

TEST_F(GpuModeObjectsTest, ObjectsThatCannotBeHandedOnAreToldByName) {
  const CommandOutput all = cluster_->Cli({"task", "describe", "--suite", "bad"});
  EXPECT_EQ(all.exit.code, 3) << all.out << all.err;
  const CommandOutput listed = cluster_->Cli({"--json", "task", "ls", "--suite", "bad"});
  for (const Bad& bad : kBad) {
    EXPECT_THAT(listed.out, AllOf(HasSubstr(bad.name), HasSubstr(bad.reason)));
  }
  EXPECT_THAT(all.out, Not(HasSubstr(": described")));
}

}  // namespace
}  // namespace ksearch
