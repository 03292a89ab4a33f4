#include "gpu_worker/verifier/tensors/compare.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

// RMS(error) / RMS(oracle) that is right at most, and RMS(oracle) / atol from which on that is
// asked for. Where large numbers cancel, all that torch's own operations leave in a narrow type is
// their rounding, which may come near to the atol of suites that compare with them.
constexpr double kMostRelativeRms = 0.2;
constexpr double kLeastOfAtol = 0.1;
constexpr double kLeastOfAtolIfNarrow = 1;
constexpr double kRoundingOfNarrow = 1e-6;
// That RMS if all numbers of a task are of 32 bits: what is left where such numbers cancel is
// smaller, also where a suite's atol is for narrow types.
constexpr double kLeastIfWide = 1e-5;

double Square(double x) { return x * x; }

// Whether so much of an answer is missing as no program that computes it leaves out, however small
// the answer is.
bool IsFarFrom(const TensorComparison& compared, const TensorArgument& tensor,
               const v1::Tolerance& tolerance, bool all_wide) {
  if (!IsFloating(tensor.dtype) || compared.oracle_squares <= 0) return false;
  const bool narrow =
      tolerance.sum_of_bounds() && RelativeRounding(tensor.dtype) > kRoundingOfNarrow;
  double least = tolerance.atol() * (narrow ? kLeastOfAtolIfNarrow : kLeastOfAtol);
  if (all_wide) least = std::min(least, kLeastIfWide);
  return compared.oracle_squares >= Square(least) * static_cast<double>(tensor.elements) &&
         compared.error_squares > Square(kMostRelativeRms) * compared.oracle_squares;
}

}  // namespace

OutputComparison JudgeOutputs(const WorkloadCase& workload,
                              const std::vector<TensorComparison>& comparisons) {
  const v1::Tolerance& tolerance = workload.tolerance();
  const bool all_wide = std::all_of(
      workload.tensors().begin(), workload.tensors().end(), [](const TensorArgument& tensor) {
        return !IsFloating(tensor.dtype) || RelativeRounding(tensor.dtype) <= kRoundingOfNarrow;
      });
  const double required =
      tolerance.required_matched_ratio() == 0 ? 1.0 : tolerance.required_matched_ratio();
  OutputComparison comparison;
  v1::Correctness& correctness = comparison.correctness;
  correctness.set_matched_ratio(1);
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(workload.inputs()) + i];
    const TensorComparison& compared = comparisons[i];
    const double matched = tensor.elements == 0 ? 1.0
                                                : 1.0 - static_cast<double>(compared.wrong) /
                                                            static_cast<double>(tensor.elements);
    correctness.set_max_abs_error(std::max(correctness.max_abs_error(), compared.max_abs));
    correctness.set_max_rel_error(std::max(correctness.max_rel_error(), compared.max_rel));
    if (matched < correctness.matched_ratio()) {
      correctness.set_matched_ratio(matched);
      correctness.set_worst_output(tensor.name);
      correctness.set_first_wrong_index(compared.first_wrong);
      correctness.set_first_wrong_got(compared.first_got);
      correctness.set_first_wrong_expected(compared.first_expected);
    }
    // No element may be infinite or NaN where the answer is a number, whatever share must match:
    // such an error is unbounded, and results computed from it are worthless.
    if ((matched < required || compared.wrong_non_finite > 0) && comparison.right) {
      comparison.right = false;
      comparison.message = absl::StrFormat(
          "output '%s': %d of %d elements wrong; first at flat index %d: got %.9g, expected %.9g "
          "(atol %g, rtol %g)",
          tensor.name, compared.wrong, tensor.elements, compared.first_wrong, compared.first_got,
          compared.first_expected, tolerance.atol(), tolerance.rtol());
    }
    // Where elements may be wrong, as in hidden cases, a few large ones make any RMS.
    if (comparison.right && required == 1 && IsFarFrom(compared, tensor, tolerance, all_wide)) {
      comparison.right = false;
      comparison.message = absl::StrFormat(
          "output '%s': the RMS of its error is %.2g times that of the reference's answer; that is "
          "so small that it is within the tolerance (atol %g) all the same",
          tensor.name, std::sqrt(compared.error_squares / compared.oracle_squares),
          tolerance.atol());
    }
    const double yardstick = std::max(tolerance.rms_yardstick(), RelativeRounding(tensor.dtype));
    if (tolerance.max_rms_error_ratio() <= 0 || yardstick <= 0) continue;
    const double relative_rms =
        compared.error_squares == 0
            ? 0
            : std::sqrt(compared.error_squares / std::max(compared.oracle_squares, 1e-300));
    const double ratio = relative_rms / yardstick;
    correctness.set_rms_error_ratio(std::max(correctness.rms_error_ratio(), ratio));
    if (ratio > tolerance.max_rms_error_ratio() && comparison.right) {
      comparison.right = false;
      comparison.message = absl::StrFormat(
          "output '%s': relative RMS error %.3g is %.1fx that of an honest kernel of this "
          "precision (limit %.1fx): part of the work is skipped or done in too low a precision",
          tensor.name, relative_rms, ratio, tolerance.max_rms_error_ratio());
    }
  }
  return comparison;
}

void MergeCorrectness(const v1::Correctness& from, v1::Correctness* into) {
  into->set_max_abs_error(std::max(into->max_abs_error(), from.max_abs_error()));
  into->set_max_rel_error(std::max(into->max_rel_error(), from.max_rel_error()));
  into->set_rms_error_ratio(std::max(into->rms_error_ratio(), from.rms_error_ratio()));
  if (from.matched_ratio() >= into->matched_ratio()) return;
  into->set_matched_ratio(from.matched_ratio());
  into->set_worst_output(from.worst_output());
  if (from.has_first_wrong_index()) {
    into->set_first_wrong_index(from.first_wrong_index());
    into->set_first_wrong_got(from.first_wrong_got());
    into->set_first_wrong_expected(from.first_wrong_expected());
  }
}

void RequireFinite(const WorkloadCase& workload, const SavedOutputs& outputs,
                   const SavedOutputs& oracle, OutputComparison* judged) {
  if (!judged->right) return;
  if (!judged->doubt.empty()) {
    judged->right = false;
    judged->message = judged->doubt;
  }
  const std::vector<TensorComparison> found = outputs.CompareWith(workload, oracle);
  if (std::none_of(found.begin(), found.end(),
                   [](const TensorComparison& one) { return one.wrong_non_finite > 0; })) {
    return;
  }
  const std::vector<TensorComparison> reversed = oracle.CompareWith(workload, outputs);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].wrong_non_finite == 0 || reversed[i].wrong_non_finite > 0) continue;
    judged->right = false;
    judged->message = absl::StrCat(
        "output '", workload.tensors()[static_cast<size_t>(workload.inputs()) + i].name, "' has ",
        found[i].wrong_non_finite, " infinite or NaN element(s) where the reference's are finite");
    return;
  }
}

// NaN is the only value that does not equal itself.
std::string OutputWithNan(const WorkloadCase& workload, const SavedOutputs& outputs) {
  const std::vector<TensorComparison> comparisons = outputs.CompareWith(workload, outputs);
  for (size_t i = 0; i < comparisons.size(); ++i) {
    if (comparisons[i].wrong > 0) {
      return workload.tensors()[static_cast<size_t>(workload.inputs()) + i].name;
    }
  }
  return "";
}

}  // namespace ksearch
