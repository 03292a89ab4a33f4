#include "gpu_worker/verifier/tensors/recipes/random_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>

#include "common/rng.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/tensors/element.h"
#include "gpu_worker/verifier/tensors/random_draw.h"
#include "gpu_worker/verifier/tensors/window_mix.h"

namespace ksearch {
namespace {

// A smaller scale makes every type 0.
constexpr double kVanishing = 1e-200;
// Offsets that a window may begin at: as many as the tensor has rows, within these.
constexpr int64_t kLeastOffsets = 16384;
constexpr int64_t kMostOffsets = int64_t{1} << 20;

class RandomGenerator final : public InputGenerator {
 public:
  RandomGenerator(const RandomDraw& draw, int64_t element_bytes, int64_t elements, uint64_t key)
      : draw_(draw), element_bytes_(element_bytes), elements_(elements), key_(key) {}

  int64_t bytes() const override { return elements_ * element_bytes_; }
  const RandomDraw* random() const override { return &draw_; }
  int64_t pool_bytes() const override {
    return PoolElements() * (OfWords() ? static_cast<int64_t>(sizeof(uint32_t)) : element_bytes_);
  }
  void Write(int64_t variant, std::byte* out) const override {
    mix().Write(variant, out);
    for (int which = 0; which < draw_.islands.count; ++which) WriteIsland(variant, which, out);
  }
  bool Matches(int64_t variant, const std::byte* memory) const override {
    return draw_.islands.count == 0 ? mix().Matches(variant, memory)
                                    : InputGenerator::Matches(variant, memory);
  }

 private:
  void WriteIsland(int64_t variant, int which, std::byte* out) const {
    const device::Islands& islands = draw_.islands;
    const auto block =
        Philox(islands.key).Block(static_cast<uint64_t>(which), static_cast<uint64_t>(variant));
    const int64_t begin = device::IslandBegin(islands, block[0], block[1]);
    for (int64_t i = 0; i < std::min(islands.run, elements_ - begin); ++i) {
      std::byte* const place = out + (begin + i) * element_bytes_;
      EncodeElement(draw_.dtype,
                    islands.factor == 0
                        ? device::IslandValue(islands, i)
                        : DecodeElement(draw_.dtype, place) * static_cast<double>(islands.factor),
                    place);
    }
  }

  // If every draw gives the same values, there is one variant.
  bool Constant() const { return std::fabs(ScaleOf(draw_.recipe)) < kVanishing; }
  bool OfWords() const { return !Constant() && MadeOfWords(draw_); }
  int64_t PoolElements() const {
    if (Constant()) return elements_;
    return elements_ + draw_.row * std::clamp(elements_ / draw_.row, kLeastOffsets, kMostOffsets);
  }
  const WindowMix& mix() const {
    std::call_once(drawn_, [this] {
      WindowMix::Options options;
      options.elements = elements_;
      options.element_bytes = element_bytes_;
      options.row = draw_.row;
      options.key = key_;
      options.raise = static_cast<float>(draw_.recipe.raise());
      options.raise_first = draw_.recipe.raise_first();
      options.raise_count = draw_.recipe.raise_count();
      if (OfWords()) {
        options.rule = WindowMix::Rule::kAdd;
        options.make_elements = [this](const uint32_t* words, int64_t count, std::byte* out) {
          ElementsOfWords(draw_, words, count, out);
        };
        mix_.emplace(DrawWords(draw_.key, PoolElements()), options);
        return;
      }
      RandomDraw draw = draw_;
      // Narrow types would be rounded twice; their few values leave nothing to remember anyway.
      if (draw.dtype == v1::DTYPE_FLOAT32 && !Constant()) {
        options.rule = draw.recipe.distribution() == v1::RandomRecipe::CAUCHY
                           ? WindowMix::Rule::kSum
                           : WindowMix::Rule::kRoot;
        options.offset = static_cast<float>(draw.recipe.offset());
        // The pool's elements lie around 0.
        draw.recipe.set_offset(0);
        draw.recipe.set_raise_count(0);
      }
      mix_.emplace(DrawPool(draw, element_bytes_, PoolElements()), options);
    });
    return *mix_;
  }

  const RandomDraw draw_;
  const int64_t element_bytes_, elements_;
  const uint64_t key_;
  mutable std::once_flag drawn_;
  mutable std::optional<WindowMix> mix_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InputGenerator>> MakeRandomInputs(const v1::RandomRecipe& recipe,
                                                                 const ShapedInput& input) {
  RandomDraw draw;
  draw.dtype = input.tensor.dtype();
  draw.key = input.Key("pool");
  draw.recipe = recipe;
  // Windows of an input with raised columns begin at rows, so that the columns stay.
  const bool by_rows = recipe.raise_count() > 0 && !input.shape.empty() && input.elements > 0;
  draw.row = by_rows ? input.shape.back() : 1;
  RETURN_IF_ERROR(CheckIntegers(draw.dtype, recipe));
  ASSIGN_OR_RETURN(draw.islands,
                   MakeIslands(draw.dtype, recipe, input.elements, input.Key("islands")));
  return std::make_unique<RandomGenerator>(draw, input.element_bytes, input.elements,
                                           input.Key("content"));
}

}  // namespace ksearch
