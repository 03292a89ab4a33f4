#include "common/work_formula.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr int kMaxDepth = 32;
constexpr size_t kMaxFormulaBytes = 4096;

// Recursive descent: sum = product {(+|-) product}, product = atom {(*|/) atom},
// atom = integer | axis | - atom | ( sum ).
class FormulaParser {
 public:
  FormulaParser(absl::string_view text, const absl::flat_hash_map<std::string, int64_t>& axes)
      : text_(text), axes_(axes) {}

  absl::StatusOr<double> Parse() {
    ASSIGN_OR_RETURN(const double value, Sum(0));
    if (Peek() != 0) return Error("unexpected character");
    return value;
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("column ", at_ + 1, ": ", what));
  }
  // The next character that is not a space; 0 at the end.
  char Peek() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : 0;
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  absl::StatusOr<double> Sum(int depth) {
    ASSIGN_OR_RETURN(double value, Product(depth));
    while (true) {
      const bool plus = Take('+');
      if (!plus && !Take('-')) return value;
      ASSIGN_OR_RETURN(const double right, Product(depth));
      value = plus ? value + right : value - right;
    }
  }
  absl::StatusOr<double> Product(int depth) {
    ASSIGN_OR_RETURN(double value, Atom(depth));
    while (true) {
      const bool times = Take('*');
      if (!times && !Take('/')) return value;
      ASSIGN_OR_RETURN(const double right, Atom(depth));
      if (!times && right == 0) return Error("division by zero");
      value = times ? value * right : value / right;
    }
  }
  absl::StatusOr<double> Atom(int depth) {
    if (depth > kMaxDepth) return Error("too many levels");
    if (Take('-')) {
      ASSIGN_OR_RETURN(const double value, Atom(depth + 1));
      return -value;
    }
    if (Take('(')) {
      ASSIGN_OR_RETURN(const double value, Sum(depth + 1));
      if (!Take(')')) return Error("')' expected");
      return value;
    }
    Peek();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
      ++at_;
    }
    const absl::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return Error("an axis, an integer or '(' expected");
    int64_t integer = 0;
    if (absl::SimpleAtoi(word, &integer)) return static_cast<double>(integer);
    const auto axis = axes_.find(word);
    if (axis == axes_.end()) {
      at_ = begin;
      return Error(absl::StrCat("unknown axis '", word, "'"));
    }
    return static_cast<double>(axis->second);
  }

  absl::string_view text_;
  const absl::flat_hash_map<std::string, int64_t>& axes_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<double> EvaluateWorkFormula(
    absl::string_view formula, const absl::flat_hash_map<std::string, int64_t>& axis_values) {
  if (formula.size() > kMaxFormulaBytes) {
    return absl::InvalidArgumentError(absl::StrCat("longer than ", kMaxFormulaBytes, " bytes"));
  }
  return FormulaParser(formula, axis_values).Parse();
}

double WorkOf(const std::string& formula, const v1::Workload& workload) {
  if (formula.empty()) return 0;
  absl::flat_hash_map<std::string, int64_t> axes;
  for (const v1::AxisValue& axis : workload.axes()) axes[axis.axis()] = axis.value();
  const auto value = EvaluateWorkFormula(formula, axes);
  return value.ok() && *value > 0 ? *value : 0;
}

}  // namespace ksearch
