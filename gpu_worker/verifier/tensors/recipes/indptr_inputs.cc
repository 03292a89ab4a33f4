#include "gpu_worker/verifier/tensors/recipes/indptr_inputs.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

// Segment bounds of a ragged batch, drawn anew for each variant: cut points uniform over the
// elements that are free once every segment has its least length.
class IndptrGenerator final : public InputGenerator {
 public:
  // Derives bounds from a key: `total` cut into segments of at least `min_length`.
  struct Cuts {
    int64_t total = 0;
    int64_t min_length = 0;
    uint64_t key = 0;
    bool lopsided = false;  // one segment has all free elements
  };
  // The bounds are the sums of those of all `terms`.
  IndptrGenerator(v1::DType dtype, int64_t element_bytes, int64_t elements, std::vector<Cuts> terms)
      : dtype_(dtype),
        element_bytes_(element_bytes),
        elements_(elements),
        terms_(std::move(terms)) {}

  int64_t bytes() const override { return elements_ * element_bytes_; }
  int64_t pool_bytes() const override { return 0; }
  void Write(int64_t variant, std::byte* out) const override {
    const int64_t segments = elements_ - 1;
    std::vector<int64_t> bounds(static_cast<size_t>(elements_));
    for (const Cuts& term : terms_) {
      const int64_t free = term.total - term.min_length * segments;
      std::vector<int64_t> cuts = {0};
      Rng rng(term.key, static_cast<uint64_t>(variant) << 32);
      const auto longest = static_cast<int64_t>(
          term.lopsided && segments > 0 ? rng.NextBelow(static_cast<uint64_t>(segments)) : 0);
      for (int64_t i = 1; i < segments; ++i) {
        cuts.push_back(term.lopsided
                           ? (i > longest ? free : 0)
                           : static_cast<int64_t>(rng.NextBelow(static_cast<uint64_t>(free) + 1)));
      }
      std::sort(cuts.begin(), cuts.end());
      for (int64_t i = 0; i < segments; ++i) {
        bounds[static_cast<size_t>(i)] += cuts[static_cast<size_t>(i)] + i * term.min_length;
      }
      bounds[static_cast<size_t>(segments)] += term.total;
    }
    for (int64_t i = 0; i < elements_; ++i) {
      EncodeElement(dtype_, static_cast<double>(bounds[static_cast<size_t>(i)]),
                    out + i * element_bytes_);
    }
  }

 private:
  const v1::DType dtype_;
  const int64_t element_bytes_, elements_;
  const std::vector<Cuts> terms_;
};

// One recipe's cuts, checked. `taken` of the total is another input's.
absl::StatusOr<IndptrGenerator::Cuts> MakeCuts(const ShapedInput& input, const std::string& name,
                                               const v1::IndptrRecipe& recipe, int64_t taken) {
  const int64_t elements = input.elements;
  ASSIGN_OR_RETURN(int64_t total,
                   AxisValueOf(input.definition, input.workload, recipe.total_axis()));
  total -= taken;
  if (elements < 1 || recipe.min_length() < 0 || total < recipe.min_length() * (elements - 1) ||
      (elements == 1 && total != 0)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot cut ", total, " into ", elements - 1,
                                                   " segments of at least ", recipe.min_length()));
  }
  return IndptrGenerator::Cuts{total, recipe.min_length(),
                               DeriveKey(input.seed, input.workload.uuid(), name, "content"),
                               recipe.lopsided()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<InputGenerator>> MakeIndptrInputs(const v1::IndptrRecipe& recipe,
                                                                 const ShapedInput& input) {
  if (!IsIndexType(input.tensor.dtype())) {
    return absl::InvalidArgumentError("indptr needs dtype int32 or int64");
  }
  std::vector<IndptrGenerator::Cuts> terms;
  if (!recipe.plus().empty()) {
    for (const v1::InputRecipe& other : input.workload.inputs()) {
      if (other.input() != recipe.plus() || !other.has_indptr()) continue;
      ASSIGN_OR_RETURN(IndptrGenerator::Cuts cuts,
                       MakeCuts(input, other.input(), other.indptr(), 0));
      terms.push_back(cuts);
    }
    if (terms.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", recipe.plus(), "' is not an input with an indptr recipe"));
    }
  }
  ASSIGN_OR_RETURN(IndptrGenerator::Cuts cuts, MakeCuts(input, input.tensor.name(), recipe,
                                                        terms.empty() ? 0 : terms[0].total));
  terms.push_back(cuts);
  return std::make_unique<IndptrGenerator>(input.tensor.dtype(), input.element_bytes,
                                           input.elements, std::move(terms));
}

}  // namespace ksearch
