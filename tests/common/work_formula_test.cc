#include "common/work_formula.h"

#include <string>

#include "gtest/gtest.h"

namespace ksearch {
namespace {

const absl::flat_hash_map<std::string, int64_t>& Axes() {
  static const auto& axes = *new absl::flat_hash_map<std::string, int64_t>{
      {"M", 3}, {"N", 5}, {"head_dim", 7}, {"zero", 0}};
  return axes;
}

std::string ErrorOf(absl::string_view formula) {
  return std::string(EvaluateWorkFormula(formula, Axes()).status().message());
}

TEST(WorkFormulaTest, FollowsPrecedenceAndParentheses) {
  EXPECT_EQ(EvaluateWorkFormula("2 + M * N", Axes()).value(), 17);
  EXPECT_EQ(EvaluateWorkFormula("(2 + M)*N", Axes()).value(), 25);
  EXPECT_EQ(EvaluateWorkFormula("N - M - 1", Axes()).value(), 1);
  EXPECT_EQ(EvaluateWorkFormula("N / 2 * 2", Axes()).value(), 5);
  EXPECT_EQ(EvaluateWorkFormula("-head_dim + -(-1)", Axes()).value(), -6);
}

TEST(WorkFormulaTest, ErrorsNameTheColumn) {
  EXPECT_EQ(ErrorOf("M * K"), "column 5: unknown axis 'K'");
  EXPECT_EQ(ErrorOf("M *"), "column 4: an axis, an integer or '(' expected");
  EXPECT_EQ(ErrorOf("(M"), "column 3: ')' expected");
  EXPECT_EQ(ErrorOf("M % 2"), "column 3: unexpected character");
  EXPECT_EQ(ErrorOf("M / zero"), "column 9: division by zero");
}

TEST(WorkFormulaTest, RejectsDeepNesting) {
  EXPECT_FALSE(EvaluateWorkFormula(std::string(1000, '(') + "1", Axes()).ok());
  EXPECT_FALSE(EvaluateWorkFormula(std::string(1000, '-') + "1", Axes()).ok());
}

}  // namespace
}  // namespace ksearch
