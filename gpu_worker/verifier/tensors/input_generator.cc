#include "gpu_worker/verifier/tensors/input_generator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numbers>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/mapped_file.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/tensors/element.h"
#include "gpu_worker/verifier/tensors/window_mix.h"

namespace ksearch {
namespace {

std::vector<std::byte> DrawPool(const RandomDraw& draw, int64_t element_bytes, int64_t elements);

double ScaleOf(const v1::RandomRecipe& recipe) { return recipe.scale() == 0 ? 1 : recipe.scale(); }
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
  int64_t pool_bytes() const override { return PoolElements() * element_bytes_; }
  void Write(int64_t variant, std::byte* out) const override {
    mix().Write(variant, out);
    for (int which = 0; which < draw_.islands.count; ++which) WriteIsland(variant, which, out);
  }
  bool Matches(int64_t variant, const std::byte* memory) const override {
    if (draw_.islands.count == 0) return mix().Matches(variant, memory);
    std::vector<std::byte> expected(static_cast<size_t>(bytes()));
    Write(variant, expected.data());
    return std::memcmp(memory, expected.data(), expected.size()) == 0;
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
      RandomDraw draw = draw_;
      // Narrow types would be rounded twice; their few values leave nothing to remember anyway.
      const bool weighs = draw.dtype == v1::DTYPE_FLOAT32 && !Constant() &&
                          draw.recipe.distribution() != v1::RandomRecipe::STUDENT2 &&
                          draw.recipe.distribution() != v1::RandomRecipe::UNIFORM;
      if (weighs) {
        options.rule = draw.recipe.distribution() == v1::RandomRecipe::CAUCHY
                           ? WindowMix::Rule::kSum
                           : WindowMix::Rule::kRoot;
        options.offset = static_cast<float>(draw.recipe.offset());
        options.raise = static_cast<float>(draw.recipe.raise());
        options.raise_first = draw.recipe.raise_first();
        options.raise_count = draw.recipe.raise_count();
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
  bool Matches(int64_t variant, const std::byte* memory) const override {
    std::vector<std::byte> expected(static_cast<size_t>(bytes()));
    Write(variant, expected.data());
    return std::memcmp(memory, expected.data(), expected.size()) == 0;
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

// The same values in every variant.
class RecordedGenerator final : public InputGenerator {
 public:
  explicit RecordedGenerator(std::string values) : values_(std::move(values)) {}

  int64_t bytes() const override { return static_cast<int64_t>(values_.size()); }
  int64_t pool_bytes() const override { return 0; }
  bool repeats() const override { return true; }
  void Write(int64_t /*variant*/, std::byte* out) const override {
    std::memcpy(out, values_.data(), values_.size());
  }
  bool Matches(int64_t /*variant*/, const std::byte* memory) const override {
    return std::memcmp(memory, values_.data(), values_.size()) == 0;
  }

 private:
  const std::string values_;
};

// The same of a blob's file, without a copy.
class MappedGenerator final : public InputGenerator {
 public:
  explicit MappedGenerator(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  int64_t bytes() const override { return static_cast<int64_t>(file_->bytes().size()); }
  int64_t pool_bytes() const override { return 0; }
  bool repeats() const override { return true; }
  void Write(int64_t /*variant*/, std::byte* out) const override {
    std::memcpy(out, file_->bytes().data(), file_->bytes().size());
  }
  bool Matches(int64_t /*variant*/, const std::byte* memory) const override {
    return std::memcmp(memory, file_->bytes().data(), file_->bytes().size()) == 0;
  }

 private:
  const std::shared_ptr<const MappedFile> file_;
};

// Segment bounds of a ragged batch, drawn anew for each variant: cut points uniform over the
// elements that are free once every segment has its least length.
class IndptrGenerator final : public InputGenerator {
 public:
  // Derives bounds from a key: `total` cut into segments of at least `min_length`.
  struct Cuts {
    int64_t total = 0;
    int64_t min_length = 0;
    uint64_t key = 0;
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
      for (int64_t i = 1; i < segments; ++i) {
        cuts.push_back(static_cast<int64_t>(rng.NextBelow(static_cast<uint64_t>(free) + 1)));
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
  bool Matches(int64_t variant, const std::byte* memory) const override {
    std::vector<std::byte> expected(static_cast<size_t>(bytes()));
    Write(variant, expected.data());
    return std::memcmp(memory, expected.data(), expected.size()) == 0;
  }

 private:
  const v1::DType dtype_;
  const int64_t element_bytes_, elements_;
  const std::vector<Cuts> terms_;
};

// Four uniforms to four Cauchy variates; the uniforms are never 0 or 1, so all are finite.
void FourCauchys(const std::array<uint32_t, 4>& block, double scale, double offset, double* out) {
  for (size_t i = 0; i < 4; ++i) {
    const double u = (static_cast<double>(block[i] >> 8) + 0.5) * 0x1.0p-24;
    out[i] = std::tan(std::numbers::pi * (u - 0.5)) * scale + offset;
  }
}

// Four uniforms to four variates of Student's t with 2 degrees of freedom.
void FourStudents(const std::array<uint32_t, 4>& block, double scale, double offset, double* out) {
  for (size_t i = 0; i < 4; ++i) {
    const double u = (static_cast<double>(block[i] >> 9) + 0.5) * 0x1.0p-23;
    out[i] = (2 * u - 1) / std::sqrt(2 * u * (1 - u)) * scale + offset;
  }
}

// Four uniforms in [0, 1), exact in float32.
void FourUniforms(const std::array<uint32_t, 4>& block, double scale, double offset, double* out) {
  for (size_t i = 0; i < 4; ++i) {
    out[i] = static_cast<double>(block[i] >> 8) * 0x1.0p-24 * scale + offset;
  }
}

// Four uniforms to four normals (Box-Muller).
void FourNormals(const std::array<uint32_t, 4>& block, double scale, double offset, bool clamp,
                 double* out) {
  for (int pair = 0; pair < 2; ++pair) {
    // In (0, 1]: the logarithm stays finite.
    const float u =
        (static_cast<float>(block[static_cast<size_t>(2 * pair)] >> 8) + 1.0f) * 0x1.0p-24f;
    const float v = static_cast<float>(block[static_cast<size_t>(2 * pair + 1)] >> 8) * 0x1.0p-24f;
    const float radius = std::sqrt(-2.0f * std::log(u));
    const float angle = 2.0f * std::numbers::pi_v<float> * v;
    out[2 * pair] = static_cast<double>(radius * std::cos(angle));
    out[2 * pair + 1] = static_cast<double>(radius * std::sin(angle));
  }
  for (int i = 0; i < 4; ++i) {
    if (clamp) out[i] = std::clamp(out[i], -2.0, 2.0);
    out[i] = out[i] * scale + offset;
  }
}

// Draws elements [begin, end) of a pool of rows; begin is a multiple of 4.
void DrawElements(const RandomDraw& draw, int64_t element_bytes, int64_t begin, int64_t end,
                  std::byte* pool) {
  const Philox philox(draw.key);
  const v1::DType dtype = draw.dtype;
  const v1::RandomRecipe& recipe = draw.recipe;
  const double scale = ScaleOf(recipe);
  const bool floating = IsFloating(dtype);
  const bool cauchy = recipe.distribution() == v1::RandomRecipe::CAUCHY;
  const bool clamp = dtype == v1::DTYPE_FLOAT8_E4M3FN || dtype == v1::DTYPE_FLOAT8_E5M2;
  // A bool is true when its 32 bits are at or above this.
  const double probability = recipe.probability() == 0 ? 0.5 : recipe.probability();
  const uint64_t true_from = static_cast<uint64_t>((1 - probability) * 0x1.0p32);
  const IntegerRange integers = IntegersOf(dtype, recipe);
  for (int64_t first = begin; first < end; first += 4) {
    const auto block = philox.Block(static_cast<uint64_t>(first / 4));
    double values[4];
    if (floating && cauchy) {
      FourCauchys(block, scale, recipe.offset(), values);
    } else if (floating && recipe.distribution() == v1::RandomRecipe::STUDENT2) {
      FourStudents(block, scale, recipe.offset(), values);
    } else if (floating && recipe.distribution() == v1::RandomRecipe::UNIFORM) {
      FourUniforms(block, scale, recipe.offset(), values);
    } else if (floating) {
      FourNormals(block, scale, recipe.offset(), clamp, values);
    } else if (dtype == v1::DTYPE_BOOL) {
      for (size_t i = 0; i < 4; ++i) values[i] = block[i] >= true_from ? 1 : 0;
    } else {
      for (int64_t i = 0; i < std::min<int64_t>(4, end - first); ++i) {
        const int64_t value =
            device::IntegerIn(block[static_cast<size_t>(i)], integers.least, integers.span);
        // Little-endian.
        std::memcpy(pool + (first + i) * element_bytes, &value, static_cast<size_t>(element_bytes));
      }
      continue;
    }
    const int64_t count = std::min<int64_t>(4, end - first);
    for (int64_t i = 0; i < count; ++i) {
      if (recipe.raise_count() > 0) {
        const int64_t column = (first + i) % draw.row - recipe.raise_first();
        if (column >= 0 && column < recipe.raise_count()) values[i] += recipe.raise();
      }
      EncodeElement(dtype, values[i], pool + (first + i) * element_bytes);
    }
  }
}

std::vector<std::byte> DrawPool(const RandomDraw& draw, int64_t element_bytes, int64_t elements) {
  std::vector<std::byte> pool(static_cast<size_t>(elements * element_bytes));
  const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const int64_t parts = std::clamp<int64_t>(elements / (int64_t{1} << 18), 1, cores);
  const int64_t part = (elements / parts + 3) / 4 * 4;
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < parts; ++i) {
    threads.emplace_back(DrawElements, std::cref(draw), element_bytes, i * part,
                         i + 1 == parts ? elements : (i + 1) * part, pool.data());
  }
  DrawElements(draw, element_bytes, 0, parts == 1 ? elements : part, pool.data());
  for (std::thread& thread : threads) thread.join();
  return pool;
}

absl::StatusOr<int64_t> AxisValueOf(const v1::Definition& definition, const v1::Workload& workload,
                                    const std::string& name) {
  for (const v1::Axis& axis : definition.axes()) {
    if (axis.name() == name && axis.has_const_value()) return axis.const_value();
  }
  for (const v1::AxisValue& axis : workload.axes()) {
    if (axis.axis() == name) return axis.value();
  }
  return absl::InvalidArgumentError(absl::StrCat("axis '", name, "' has no value"));
}

bool IsIndexType(v1::DType dtype) { return dtype == v1::DTYPE_INT32 || dtype == v1::DTYPE_INT64; }

// One recipe's cuts, checked. `taken` of the total is another input's.
absl::StatusOr<IndptrGenerator::Cuts> MakeCuts(const v1::Definition& definition,
                                               const v1::Workload& workload,
                                               const std::string& input,
                                               const v1::IndptrRecipe& recipe, int64_t elements,
                                               int64_t taken, const Seed& seed) {
  ASSIGN_OR_RETURN(int64_t total, AxisValueOf(definition, workload, recipe.total_axis()));
  total -= taken;
  if (elements < 1 || recipe.min_length() < 0 || total < recipe.min_length() * (elements - 1) ||
      (elements == 1 && total != 0)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot cut ", total, " into ", elements - 1,
                                                   " segments of at least ", recipe.min_length()));
  }
  return IndptrGenerator::Cuts{total, recipe.min_length(),
                               DeriveKey(seed, workload.uuid(), input, "content")};
}

absl::StatusOr<std::unique_ptr<InputGenerator>> MakeIndptr(
    const v1::Definition& definition, const v1::Workload& workload, const v1::TensorSpec& tensor,
    const v1::IndptrRecipe& recipe, int64_t element_bytes, int64_t elements, const Seed& seed) {
  if (!IsIndexType(tensor.dtype())) {
    return absl::InvalidArgumentError("indptr needs dtype int32 or int64");
  }
  std::vector<IndptrGenerator::Cuts> terms;
  if (!recipe.plus().empty()) {
    for (const v1::InputRecipe& other : workload.inputs()) {
      if (other.input() != recipe.plus() || !other.has_indptr()) continue;
      ASSIGN_OR_RETURN(IndptrGenerator::Cuts cuts, MakeCuts(definition, workload, other.input(),
                                                            other.indptr(), elements, 0, seed));
      terms.push_back(cuts);
    }
    if (terms.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", recipe.plus(), "' is not an input with an indptr recipe"));
    }
  }
  ASSIGN_OR_RETURN(IndptrGenerator::Cuts cuts,
                   MakeCuts(definition, workload, tensor.name(), recipe, elements,
                            terms.empty() ? 0 : terms[0].total, seed));
  terms.push_back(cuts);
  return std::make_unique<IndptrGenerator>(tensor.dtype(), element_bytes, elements,
                                           std::move(terms));
}

absl::StatusOr<std::unique_ptr<InputGenerator>> MakePageIndices(
    const v1::Definition& definition, const v1::Workload& workload, const v1::TensorSpec& tensor,
    const v1::PageIndicesRecipe& recipe, int64_t element_bytes, int64_t elements, uint64_t key) {
  ASSIGN_OR_RETURN(const int64_t pages, AxisValueOf(definition, workload, recipe.pool_axis()));
  if (!IsIndexType(tensor.dtype())) {
    return absl::InvalidArgumentError("page_indices needs dtype int32 or int64");
  }
  if (elements > pages) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot draw ", elements, " distinct pages from ", pages));
  }
  std::vector<int64_t> order(static_cast<size_t>(pages));
  std::iota(order.begin(), order.end(), 0);
  if (!recipe.contiguous()) {
    Rng rng(key);
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<size_t>(rng.NextBelow(i))]);
    }
  }
  return std::make_unique<PageIndexGenerator>(std::move(order), !recipe.contiguous(),
                                              tensor.dtype(), element_bytes, elements, key);
}

absl::StatusOr<std::unique_ptr<InputGenerator>> MakeRecorded(const v1::RecordedRecipe& recipe,
                                                             int64_t bytes,
                                                             const BlobPaths& blobs) {
  const bool is_blob = !recipe.sha256().empty();
  const int64_t recorded = is_blob ? recipe.bytes() : static_cast<int64_t>(recipe.values().size());
  if (recorded != bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(recorded, " bytes are recorded, the tensor has ", bytes));
  }
  if (!is_blob) return std::make_unique<RecordedGenerator>(recipe.values());
  const auto path = blobs.find(recipe.sha256());
  if (path == blobs.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the blob ", recipe.sha256(), " is not on this worker"));
  }
  absl::StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path->second);
  if (file.ok() && static_cast<int64_t>((*file)->bytes().size()) != bytes) {
    file = absl::FailedPreconditionError(
        absl::StrCat("the blob has ", (*file)->bytes().size(), " bytes, not ", bytes));
  }
  if (!file.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the blob ", recipe.sha256(), ": ", file.status().message()));
  }
  return std::make_unique<MappedGenerator>(*std::move(file));
}

// The least and the most value of an integer type.
std::pair<int64_t, int64_t> LimitsOf(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_INT64:
      return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    case v1::DTYPE_INT32:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case v1::DTYPE_INT16:
      return {std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()};
    case v1::DTYPE_INT8:
      return {std::numeric_limits<int8_t>::min(), std::numeric_limits<int8_t>::max()};
    default:
      return {0, 0};
  }
}

absl::Status CheckIntegers(v1::DType dtype, const v1::RandomRecipe& recipe) {
  if (recipe.least() == 0 && recipe.most() == 0) return absl::OkStatus();
  const auto [least, most] = LimitsOf(dtype);
  if (recipe.least() <= recipe.most() && recipe.least() >= least && recipe.most() <= most &&
      static_cast<uint64_t>(recipe.most()) - static_cast<uint64_t>(recipe.least()) !=
          std::numeric_limits<uint64_t>::max()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no ", DTypeName(dtype), " are from ", recipe.least(), " to ", recipe.most()));
}

absl::StatusOr<device::Islands> MakeIslands(v1::DType dtype, const v1::RandomRecipe& recipe,
                                            int64_t elements, uint64_t key) {
  device::Islands made = {};
  if (!recipe.has_islands() || elements == 0) return made;
  const v1::Islands& islands = recipe.islands();
  if (islands.run() < 1 || islands.run() > elements || islands.count() < 1 ||
      islands.count() > device::kMostIslands || dtype == v1::DTYPE_BOOL) {
    return absl::InvalidArgumentError(absl::StrCat("cannot have ", islands.count(), " islands of ",
                                                   islands.run(), " of ", elements, " elements"));
  }
  made.count = islands.count();
  made.factor = static_cast<float>(islands.factor());
  made.run = islands.run();
  made.places = (elements - 1) / islands.run() + 1;
  made.first = islands.first();
  made.last = islands.last();
  made.key = key;
  return made;
}

absl::StatusOr<std::unique_ptr<InputGenerator>> Make(const v1::Definition& definition,
                                                     const v1::Workload& workload,
                                                     const v1::TensorSpec& tensor,
                                                     const v1::InputRecipe& recipe,
                                                     const Seed& seed, const BlobPaths& blobs) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> shape, TensorShape(definition, workload, tensor));
  ASSIGN_OR_RETURN(const int64_t element_bytes, ElementBytes(tensor.dtype()));
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > (int64_t{1} << 40)) {
      return absl::InvalidArgumentError("too large");
    }
  }
  const uint64_t key = DeriveKey(seed, workload.uuid(), tensor.name(), "content");
  switch (recipe.recipe_case()) {
    case v1::InputRecipe::kRandom: {
      RandomDraw draw;
      draw.dtype = tensor.dtype();
      draw.key = DeriveKey(seed, workload.uuid(), tensor.name(), "pool");
      draw.recipe = recipe.random();
      // Windows of an input with raised columns begin at rows, so that the columns stay.
      const bool by_rows = recipe.random().raise_count() > 0 && !shape.empty() && elements > 0;
      draw.row = by_rows ? shape.back() : 1;
      RETURN_IF_ERROR(CheckIntegers(tensor.dtype(), draw.recipe));
      ASSIGN_OR_RETURN(draw.islands,
                       MakeIslands(tensor.dtype(), draw.recipe, elements,
                                   DeriveKey(seed, workload.uuid(), tensor.name(), "islands")));
      return std::make_unique<RandomGenerator>(draw, element_bytes, elements, key);
    }
    case v1::InputRecipe::kIndptr:
      return MakeIndptr(definition, workload, tensor, recipe.indptr(), element_bytes, elements,
                        seed);
    case v1::InputRecipe::kPageIndices:
      return MakePageIndices(definition, workload, tensor, recipe.page_indices(), element_bytes,
                             elements, key);
    case v1::InputRecipe::kRecorded:
      return MakeRecorded(recipe.recorded(), elements * element_bytes, blobs);
    case v1::InputRecipe::kSafetensors:
      return absl::InvalidArgumentError(
          absl::StrCat("the blob ", recipe.safetensors().path(), " is not on this worker"));
    case v1::InputRecipe::kMade:
      return absl::InvalidArgumentError("make_inputs of the task's reference is not there");
    case v1::InputRecipe::kScalar:
    case v1::InputRecipe::RECIPE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a tensor needs a random, indptr or page_indices recipe");
}

}  // namespace

Seed Seed::Fresh() { return {RandomUint64(), RandomUint64()}; }

uint64_t DeriveKey(const Seed& seed, absl::string_view workload_uuid, absl::string_view input,
                   absl::string_view purpose) {
  const std::string digest = CanonicalBytes()
                                 .Add(static_cast<int64_t>(seed.high))
                                 .Add(static_cast<int64_t>(seed.low))
                                 .Add(workload_uuid)
                                 .Add(input)
                                 .Add(purpose)
                                 .Sha256();
  return std::stoull(digest.substr(0, 16), nullptr, 16);
}

IntegerRange IntegersOf(v1::DType dtype, const v1::RandomRecipe& recipe) {
  // The ranges of the public data set.
  if (recipe.least() == 0 && recipe.most() == 0) {
    return dtype == v1::DTYPE_INT8 ? IntegerRange{-128, 256} : IntegerRange{-1024, 2048};
  }
  return {recipe.least(),
          static_cast<uint64_t>(recipe.most()) - static_cast<uint64_t>(recipe.least()) + 1};
}

absl::StatusOr<std::unique_ptr<InputGenerator>> MakeInputGenerator(
    const v1::Definition& definition, const v1::Workload& workload, const v1::TensorSpec& tensor,
    const v1::InputRecipe& recipe, const Seed& seed, const BlobPaths& blobs) {
  absl::StatusOr<std::unique_ptr<InputGenerator>> made =
      Make(definition, workload, tensor, recipe, seed, blobs);
  if (!made.ok()) {
    return Annotate(made.status(),
                    absl::StrCat("workload ", workload.uuid(), " input '", tensor.name(), "'"));
  }
  return made;
}

}  // namespace ksearch
