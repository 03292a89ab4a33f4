#include "gpu_worker/verifier/warm/compile_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kLine[] = "  File \"kernel.py\", line 30, in run\n    gemm[(1,)](a, b)\n";

Ending Raised(const std::string& words) {
  return {.outcome = v1::OUTCOME_RUNTIME_ERROR, .message = "the program raised", .words = words};
}
std::string Traceback(const std::string& rest) {
  return absl::StrCat("Traceback (most recent call last):\n", kLine, rest);
}

TEST(CompileWordsTest, ACompilersErrorIsToldWithoutWhatLedToIt) {
  const Ending told = DescribeCompileError(Raised(absl::StrCat(
      Traceback("AssertionError: first\n"),
      "\nThe above exception was the direct cause of the following exception:\n\n",
      Traceback("triton.compiler.errors.CompilationError: at 8:14:\n    c = tl.dot(a, b)\n"
                "              ^\nBoth operands must be same dtype. Got bf16 and fp32"))));
  EXPECT_EQ(told.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(told.message,
              AllOf(StartsWith(kLine), HasSubstr("at 8:14"), EndsWith("Got bf16 and fp32"),
                    Not(HasSubstr("AssertionError")), Not(HasSubstr("Traceback"))));
}

TEST(CompileWordsTest, OtherExceptionsStayRuntimeErrorsInTheirWords) {
  const Ending told =
      DescribeCompileError(Raised(Traceback("IndexError: index 4 is out of bounds")));
  EXPECT_EQ(told.outcome, v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(told.message, EndsWith("IndexError: index 4 is out of bounds"));
  for (const char* compiler :
       {"triton.runtime.errors.OutOfResources: out of resource: shared memory",
        "torch._inductor.exc.InductorError: no", "RuntimeError: Error building extension 'x'"}) {
    EXPECT_EQ(DescribeCompileError(Raised(Traceback(compiler))).outcome, v1::OUTCOME_COMPILE_ERROR)
        << compiler;
  }
}

TEST(CompileWordsTest, EndingsWithoutWordsStayAsTheyAre) {
  EXPECT_EQ(DescribeCompileError({v1::OUTCOME_TIMEOUT, "slow"}).outcome,
            v1::OUTCOME_COMPILE_TIMEOUT);
  const Ending told =
      DescribeCompileError({v1::OUTCOME_RUNTIME_ERROR, "killed by SIGSEGV in a call"});
  EXPECT_EQ(told.outcome, v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_EQ(told.message, "killed by SIGSEGV in a call");
}

TEST(CompileWordsTest, LongWordsKeepTheirEnd) {
  const Ending told =
      DescribeCompileError(Raised(Traceback(absl::StrCat(std::string(5000, 'x'), "\nthe end"))));
  EXPECT_LE(told.message.size(), 1600u);
  EXPECT_THAT(told.message, AllOf(StartsWith("[...] "), EndsWith("the end")));
}

}  // namespace
}  // namespace ksearch
