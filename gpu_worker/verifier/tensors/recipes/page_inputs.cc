#include "gpu_worker/verifier/tensors/recipes/page_inputs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "common/shuffle.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// Distinct pages: a random order of all pages is kept; each variant begins somewhere in it and
// counts pages from another one on.
class PageIndexGenerator final : public InputGenerator {
 public:
  PageIndexGenerator(std::vector<int64_t> order, bool moves, v1::DType dtype, int64_t element_bytes,
                     int64_t elements, uint64_t key)
      : order_(std::move(order)),
        moves_(moves),
        dtype_(dtype),
        element_bytes_(element_bytes),
        elements_(elements),
        key_(key) {}

  int64_t bytes() const override { return elements_ * element_bytes_; }
  int64_t pool_bytes() const override {
    return static_cast<int64_t>(order_.size() * sizeof(int64_t));
  }
  bool repeats() const override { return !moves_; }
  void Write(int64_t variant, std::byte* out) const override {
    if (dtype_ == v1::DTYPE_INT64) return WriteAs<int64_t>(variant, out);
    WriteAs<int32_t>(variant, out);
  }

 private:
  template <typename Index>
  void WriteAs(int64_t variant, std::byte* out) const {
    const auto pages = static_cast<int64_t>(order_.size());
    int64_t from = 0, shift = 0;
    if (moves_ && pages > 0) {
      Rng rng(key_, static_cast<uint64_t>(variant) << 3);
      from = static_cast<int64_t>(rng.NextBelow(static_cast<uint64_t>(pages)));
      shift = static_cast<int64_t>(rng.NextBelow(static_cast<uint64_t>(pages)));
    }
    for (int64_t i = 0; i < elements_; ++i, ++from) {
      if (from == pages) from = 0;
      const int64_t page = order_[static_cast<size_t>(from)] + shift;
      const auto index = static_cast<Index>(page < pages ? page : page - pages);
      std::memcpy(out + i * static_cast<int64_t>(sizeof index), &index, sizeof index);
    }
  }

  const std::vector<int64_t> order_;
  const bool moves_;
  const v1::DType dtype_;
  const int64_t element_bytes_, elements_;
  const uint64_t key_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InputGenerator>> MakePageInputs(const v1::PageIndicesRecipe& recipe,
                                                               const ShapedInput& input) {
  const uint64_t key = input.Key("content");
  ASSIGN_OR_RETURN(const int64_t pages,
                   AxisValueOf(input.definition, input.workload, recipe.pool_axis()));
  if (!IsIndexType(input.tensor.dtype())) {
    return absl::InvalidArgumentError("page_indices needs dtype int32 or int64");
  }
  if (input.elements > pages) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot draw ", input.elements, " distinct pages from ", pages));
  }
  const int64_t run = std::max<int64_t>(1, recipe.run());
  std::vector<int64_t> runs(static_cast<size_t>((pages + run - 1) / run));
  std::iota(runs.begin(), runs.end(), 0);
  if (!recipe.contiguous()) {
    Rng rng(key);
    Shuffle(&runs, &rng);
  }
  std::vector<int64_t> order;
  for (const int64_t one : runs) {
    for (int64_t page = one * run; page < std::min(pages, (one + 1) * run); ++page) {
      order.push_back(page);
    }
  }
  return std::make_unique<PageIndexGenerator>(std::move(order), !recipe.contiguous(),
                                              input.tensor.dtype(), input.element_bytes,
                                              input.elements, key);
}

}  // namespace ksearch
