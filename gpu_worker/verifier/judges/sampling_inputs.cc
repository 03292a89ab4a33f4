#include "gpu_worker/verifier/judges/sampling_inputs.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/judges/named_inputs.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

constexpr absl::string_view kProbabilities = "probs";
constexpr absl::string_view kTopK = "top_k";
constexpr absl::string_view kTopP = "top_p";

absl::Status Lacks(const WorkloadCase& workload, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("workload ", workload.uuid(), ": a sampling operation needs ", what));
}

const v1::ArgumentSlot* FindScalar(const WorkloadCase& workload, absl::string_view name) {
  for (const v1::ArgumentSlot& slot : workload.slots()) {
    if (slot.role() == v1::ArgumentSlot::INPUT && slot.value_case() != v1::ArgumentSlot::kBuffer &&
        slot.view().name() == name) {
      return &slot;
    }
  }
  return nullptr;
}

// A tensor of one number for each row, or one for all.
absl::StatusOr<std::vector<double>> Numbers(const WorkloadCase& workload, absl::string_view name,
                                            int64_t variant, int64_t rows) {
  const int place = FindInput(workload, name);
  if (place < 0) {
    const v1::ArgumentSlot* const scalar = FindScalar(workload, name);
    if (scalar == nullptr) return Lacks(workload, absl::StrCat("the input '", name, "'"));
    return std::vector<double>{scalar->value_case() == v1::ArgumentSlot::kFloatValue
                                   ? scalar->float_value()
                                   : static_cast<double>(scalar->int_value())};
  }
  const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(place)];
  if (tensor.elements != rows && tensor.elements != 1) {
    return Lacks(workload, absl::StrCat("'", name, "' to have one number for each row of '",
                                        kProbabilities, "', or one"));
  }
  return NumbersOf(workload, place, variant);
}

}  // namespace

absl::Status SamplingInputs::Check(const WorkloadCase& workload) {
  const int place = FindInput(workload, kProbabilities);
  if (place < 0) return Lacks(workload, absl::StrCat("the input '", kProbabilities, "'"));
  const v1::TensorView& view = ViewOf(workload, place);
  if (view.shape_size() != 2 || view.shape(0) < 1 || view.shape(1) < 1 ||
      !IsFloating(view.dtype())) {
    return Lacks(workload, absl::StrCat("'", kProbabilities, "' to be rows of floats"));
  }
  const TensorArgument& output = workload.tensors()[static_cast<size_t>(workload.inputs())];
  if (workload.outputs() != 1 || output.elements != view.shape(0) || IsFloating(output.dtype)) {
    return Lacks(workload, "one whole number for each row as its only output");
  }
  return absl::OkStatus();
}

absl::StatusOr<SamplingInputs> SamplingInputs::Read(const WorkloadCase& workload, int64_t variant) {
  RETURN_IF_ERROR(Check(workload));
  const int place = FindInput(workload, kProbabilities);
  const v1::TensorView& view = ViewOf(workload, place);
  SamplingInputs inputs;
  inputs.rows_ = view.shape(0);
  inputs.tokens_ = view.shape(1);
  inputs.dtype_ = view.dtype();
  inputs.probabilities_ = BytesOf(workload, place, variant);
  inputs.element_bytes_ =
      static_cast<int64_t>(inputs.probabilities_.size()) / (inputs.rows_ * inputs.tokens_);
  const v1::SuiteRule::Sampling& rule = workload.suite_rule().sampling();
  if (rule.by_top_k()) {
    ASSIGN_OR_RETURN(inputs.top_k_, Numbers(workload, kTopK, variant, inputs.rows_));
  }
  if (rule.by_top_p()) {
    ASSIGN_OR_RETURN(inputs.top_p_, Numbers(workload, kTopP, variant, inputs.rows_));
  }
  inputs.margin_ = rule.margin();
  return inputs;
}

std::vector<double> SamplingInputs::Row(int64_t row) const {
  std::vector<double> probabilities(static_cast<size_t>(tokens_));
  DecodeElements(dtype_, probabilities_.data() + row * tokens_ * element_bytes_, tokens_,
                 probabilities.data());
  return probabilities;
}

DrawLimits SamplingInputs::LimitsOf(int64_t row) const {
  const auto of_row = [&](const std::vector<double>& all) {
    if (all.empty()) return 0.0;
    return all[all.size() == 1 ? 0 : static_cast<size_t>(row)];
  };
  return {static_cast<int64_t>(of_row(top_k_)), of_row(top_p_), margin_};
}

}  // namespace ksearch
