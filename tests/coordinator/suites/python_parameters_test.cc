#include "coordinator/suites/flashinfer/python_parameters.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

int Count(absl::string_view text) {
  const auto parameters = ParametersOf(text, "run");
  return parameters.has_value() ? parameters->count : -1;
}

bool Plain(absl::string_view text) {
  const auto parameters = ParametersOf(text, "run");
  return parameters.has_value() && parameters->plain;
}

TEST(PythonParametersTest, AreCounted) {
  EXPECT_EQ(Count("def run(): pass"), 0);
  EXPECT_EQ(Count("import torch\ndef run(a, b,\n        c,):\n    pass"), 3);
  EXPECT_EQ(Count("def run(a: Dict[str, int], b=(1, 2)): pass"), 2);
  EXPECT_EQ(Count("def other(a): pass\n"), -1);
  EXPECT_EQ(Count("  def run(a): pass\n"), -1);
  EXPECT_EQ(Count("def run(a, b"), -1);
  EXPECT_EQ(Count("def runs(a): pass\ndef run(a, b): pass"), 2);
}

TEST(PythonParametersTest, ThoseWithDefaultsAndThoseThatGatherAreToldApart) {
  const auto of = [](absl::string_view list) {
    const auto parameters = ParametersOf(absl::StrCat("def run(", list, "): pass"), "run");
    return absl::StrCat(parameters->count, " ", parameters->without_default,
                        parameters->gathers ? " gathers" : "");
  };
  EXPECT_EQ(of("a, b: int = 1, c=(2, 3), d=\"x = y\""), "4 1");
  EXPECT_EQ(of("a, f=lambda x: x == 1"), "2 1");
  EXPECT_EQ(of("a, /, b, *, c=2 * 3, d"), "4 3");
  EXPECT_EQ(of("a: Dict[str, int], *rest"), "2 2 gathers");
  EXPECT_EQ(of("a=1, **options"), "2 1 gathers");
}

TEST(PythonParametersTest, CommentsAndStringsAmongThemAreNone) {
  EXPECT_EQ(Count("def run(\n    q,  # [batch, heads], bf16)\n    k,  # the same, too\n): pass"),
            2);
  EXPECT_EQ(Count("def run(a=\"x, y)\", b='''1, 2\n)''', c='\\', )'): pass"), 3);
  EXPECT_EQ(Count("def run(  # nothing\n): pass"), 0);
}

TEST(PythonParametersTest, WhatHasMoreThanNamesIsNotPlain) {
  EXPECT_TRUE(Plain("def run(a, b: torch.Tensor): pass"));
  EXPECT_TRUE(Plain("def run(a,  # a = b * c / d\n b): pass"));
  EXPECT_FALSE(Plain("def run(a, b=1): pass"));
  EXPECT_FALSE(Plain("def run(*all): pass"));
  EXPECT_FALSE(Plain("def run(a, /, b): pass"));
}

}  // namespace
}  // namespace ksearch
