#include "gpu_worker/verifier/tensors/random_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/rng.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

// A table of so many answers is an honest program's, too, and needs no inputs that came before.
constexpr uint64_t kMostInTable = uint64_t{1} << 16;

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

// Four uniforms to four Cauchy variates; the uniforms are never 0 or 1, so all are finite.
void FourCauchys(const std::array<uint32_t, 4>& block, double scale, double offset, double* out) {
  for (size_t i = 0; i < 4; ++i) {
    const double u = (static_cast<double>(block[i] >> 8) + 0.5) * 0x1.0p-24;
    out[i] = std::tan(std::numbers::pi * (u - 0.5)) * scale + offset;
  }
}

// A uniform to a variate of Student's t with 2 degrees of freedom.
double StudentOf(uint32_t random) {
  const double u = (static_cast<double>(random >> 9) + 0.5) * 0x1.0p-23;
  return (2 * u - 1) / std::sqrt(2 * u * (1 - u));
}

// In [0, 1), exact in float32.
double UniformOf(uint32_t random) { return static_cast<double>(random >> 8) * 0x1.0p-24; }

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

bool IsOfOneWord(const v1::RandomRecipe& recipe) {
  return recipe.distribution() == v1::RandomRecipe::STUDENT2 ||
         recipe.distribution() == v1::RandomRecipe::UNIFORM;
}

auto NumberOfWord(const v1::RandomRecipe& recipe) {
  return recipe.distribution() == v1::RandomRecipe::STUDENT2 ? StudentOf : UniformOf;
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
    } else if (floating && IsOfOneWord(recipe)) {
      const auto number = NumberOfWord(recipe);
      for (size_t i = 0; i < 4; ++i) values[i] = number(block[i]) * scale + recipe.offset();
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

// Calls draw(begin, end) for parts of `elements`, which begin at multiples of 4. Uses all cores for
// many.
template <typename Draw>
void InParts(int64_t elements, Draw draw) {
  const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const int64_t parts = std::clamp<int64_t>(elements / (int64_t{1} << 18), 1, cores);
  const int64_t part = (elements / parts + 3) / 4 * 4;
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < parts; ++i) {
    threads.emplace_back(draw, i * part, i + 1 == parts ? elements : (i + 1) * part);
  }
  draw(0, parts == 1 ? elements : part);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

double ScaleOf(const v1::RandomRecipe& recipe) { return recipe.scale() == 0 ? 1 : recipe.scale(); }

IntegerRange IntegersOf(v1::DType dtype, const v1::RandomRecipe& recipe) {
  // The ranges of the public data set.
  if (recipe.least() == 0 && recipe.most() == 0) {
    return dtype == v1::DTYPE_INT8 ? IntegerRange{-128, 256} : IntegerRange{-1024, 2048};
  }
  return {recipe.least(),
          static_cast<uint64_t>(recipe.most()) - static_cast<uint64_t>(recipe.least()) + 1};
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

std::vector<std::byte> DrawPool(const RandomDraw& draw, int64_t element_bytes, int64_t elements) {
  std::vector<std::byte> pool(static_cast<size_t>(elements * element_bytes));
  InParts(elements, [&](int64_t begin, int64_t end) {
    DrawElements(draw, element_bytes, begin, end, pool.data());
  });
  return pool;
}

std::vector<std::byte> DrawWords(uint64_t key, int64_t words) {
  std::vector<std::byte> pool(static_cast<size_t>(words) * sizeof(uint32_t));
  InParts(words, [&](int64_t begin, int64_t end) {
    const Philox philox(key);
    for (int64_t first = begin; first < end; first += 4) {
      const auto block = philox.Block(static_cast<uint64_t>(first / 4));
      std::memcpy(pool.data() + first * 4, block.data(),
                  static_cast<size_t>(std::min<int64_t>(4, end - first)) * 4);
    }
  });
  return pool;
}

bool MadeOfWords(const RandomDraw& draw) {
  switch (draw.dtype) {
    case v1::DTYPE_FLOAT32:
      return IsOfOneWord(draw.recipe);
    case v1::DTYPE_INT32:
    case v1::DTYPE_INT64:
      return IntegersOf(draw.dtype, draw.recipe).span > kMostInTable;
    default:
      return false;
  }
}

void ElementsOfWords(const RandomDraw& draw, const uint32_t* words, int64_t count, std::byte* out) {
  if (draw.dtype == v1::DTYPE_FLOAT32) {
    const auto number = NumberOfWord(draw.recipe);
    const double scale = ScaleOf(draw.recipe), offset = draw.recipe.offset();
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(number(words[i]) * scale + offset);
      std::memcpy(out + i * 4, &value, 4);
    }
    return;
  }
  const IntegerRange integers = IntegersOf(draw.dtype, draw.recipe);
  const size_t bytes = draw.dtype == v1::DTYPE_INT64 ? 8 : 4;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = device::IntegerIn(words[i], integers.least, integers.span);
    // Little-endian.
    std::memcpy(out + i * static_cast<int64_t>(bytes), &value, bytes);
  }
}

}  // namespace ksearch
