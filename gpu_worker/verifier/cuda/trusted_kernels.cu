// Device code of the verifier: draws inputs, poisons outputs, writes and checks guard bands, copies
// outputs aside and compares them. Runs in the verifier's own context only.
//
// Tensors are handled in chunks of 16 bytes; they start at multiples of 256. Reading the whole last
// chunk of a tensor is allowed (a guard band of at least a page follows), writing it is not.
#include "gpu_worker/verifier/cuda/device_tables.h"
#include "gpu_worker/verifier/tensors/suite_rules.h"

namespace ksearch {
namespace device {
namespace {

__device__ int64_t FirstIndex() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ int64_t Stride() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

__device__ void Lower(uint64_t* finding, uint64_t value) {
  if (value != kNothing) {
    atomicMin(reinterpret_cast<unsigned long long*>(finding),
              static_cast<unsigned long long>(value));
  }
}

__device__ const TensorRow& RowOf(const Tables& tables, int set, int tensor) {
  return tables.tensors[static_cast<int64_t>(set) * (tables.inputs + tables.outputs) + tensor];
}

template <Kind kKind>
struct Format;
#define KSEARCH_FORMAT(kind, bytes, floating)                     \
  template <>                                                     \
  struct Format<Kind::kind> {                                     \
    static constexpr int kBytes = bytes;                          \
    static constexpr bool kFloating = floating;                   \
    static constexpr int kElements = bytes >= 4 ? 4 : 16 / bytes; \
    static constexpr int kWords = kElements * bytes / 4;          \
  };
KSEARCH_FORMAT(kFloat32, 4, true)
KSEARCH_FORMAT(kFloat16, 2, true)
KSEARCH_FORMAT(kBfloat16, 2, true)
KSEARCH_FORMAT(kE4m3, 1, true)
KSEARCH_FORMAT(kE5m2, 1, true)
KSEARCH_FORMAT(kInt64, 8, false)
KSEARCH_FORMAT(kInt32, 4, false)
KSEARCH_FORMAT(kInt16, 2, false)
KSEARCH_FORMAT(kInt8, 1, false)
KSEARCH_FORMAT(kBool, 1, false)
#undef KSEARCH_FORMAT

template <Kind kKind>
__device__ uint32_t EncodeFloat(float value) {
  if constexpr (kKind == Kind::kFloat32) return BitsOf(value);
  if constexpr (kKind == Kind::kFloat16) return EncodeSmall(value, 5, 10, false);
  if constexpr (kKind == Kind::kBfloat16) return EncodeBrain(value);
  if constexpr (kKind == Kind::kE4m3) return EncodeSmall(value, 4, 3, true);
  return EncodeSmall(value, 5, 2, false);
}

// Where the islands of one variant begin.
struct Places {
  int64_t begin[kMostIslands];
};

__device__ Places PlacesOf(const DrawRow& draw, uint64_t variant) {
  Places places = {};
  for (int i = 0; i < kMostIslands; ++i) {
    if (i >= draw.islands.count) break;
    const Four block = PhiloxBlock(draw.islands.key, static_cast<uint64_t>(i), variant);
    places.begin[i] = IslandBegin(draw.islands, block.v[0], block.v[1]);
  }
  return places;
}

// The index of element `element` within the last island that it lies in; -1 if in none.
__device__ int64_t WithinIsland(const DrawRow& draw, const Places& places, int64_t element) {
  int64_t within = -1;
#pragma unroll
  for (int i = 0; i < kMostIslands; ++i) {
    const int64_t index = element - places.begin[i];
    if (i < draw.islands.count && index >= 0 && index < draw.islands.run) within = index;
  }
  return within;
}

template <Kind kKind>
__device__ int64_t Integer(const DrawRow& draw, uint32_t random) {
  if constexpr (kKind == Kind::kBool) return random >= draw.true_from ? 1 : 0;
  return IntegerIn(random, draw.least, draw.span);
}

// Elements [first, first + kElements) of a variant; `first` is a multiple of kElements.
template <Kind kKind>
__device__ void DrawChunk(const DrawRow& draw, const Places& places, uint64_t variant,
                          int64_t first, uint32_t* words) {
  using F = Format<kKind>;
#pragma unroll
  for (int w = 0; w < F::kWords; ++w) words[w] = 0;
#pragma unroll
  for (int part = 0; part < F::kElements / 4; ++part) {
    const Four block = PhiloxBlock(draw.key, static_cast<uint64_t>(first / 4 + part), variant);
    float values[4];
    if constexpr (F::kFloating) {
      if (draw.tails == 1) {
#pragma unroll
        for (int i = 0; i < 4; ++i) values[i] = Cauchy(block.v[i]);
      } else if (draw.tails == 2) {
#pragma unroll
        for (int i = 0; i < 4; ++i) values[i] = Student2(block.v[i]);
      } else if (draw.tails == 3) {
#pragma unroll
        for (int i = 0; i < 4; ++i) values[i] = static_cast<float>(block.v[i] >> 8) * 0x1.0p-24f;
      } else {
        FourNormals(block, values);
        if constexpr (F::kBytes == 1) {
#pragma unroll
          for (int i = 0; i < 4; ++i) values[i] = fminf(fmaxf(values[i], -2.0f), 2.0f);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int element = 4 * part + i;
      if constexpr (F::kFloating) {
        float value = values[i] * draw.scale + draw.offset;
        if (draw.raise_count > 0) {
          const int64_t column = (first + element) % draw.row - draw.raise_first;
          if (column >= 0 && column < draw.raise_count) value += draw.raise;
        }
        if (draw.islands.count > 0) {
          const int64_t within = WithinIsland(draw, places, first + element);
          if (within >= 0) {
            value = draw.islands.factor != 0
                        ? value * draw.islands.factor
                        : static_cast<float>(IslandValue(draw.islands, within));
          }
        }
        words[element * F::kBytes / 4] |= EncodeFloat<kKind>(value)
                                          << (8 * (element * F::kBytes % 4));
      } else {
        int64_t value = Integer<kKind>(draw, block.v[i]);
        if (kKind != Kind::kBool && draw.islands.count > 0) {
          const int64_t within = WithinIsland(draw, places, first + element);
          if (within >= 0) value = llrint(IslandValue(draw.islands, within));
        }
        if constexpr (F::kBytes == 8) {
          words[2 * element] = static_cast<uint32_t>(value);
          words[2 * element + 1] = static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
        } else {
          const uint32_t mask = F::kBytes == 4 ? ~0u : (1u << (8 * F::kBytes % 32)) - 1;
          words[element * F::kBytes / 4] |= (static_cast<uint32_t>(value) & mask)
                                            << (8 * (element * F::kBytes % 4));
        }
      }
    }
  }
}

// One code path for writing and for checking, so that both see the same bits.
template <Kind kKind>
__device__ void DrawTensor(const DrawRow& draw, const TensorRow& tensor, uint64_t variant,
                           uint64_t* finding) {
  using F = Format<kKind>;
  constexpr int kChunkBytes = 4 * F::kWords;
  uint8_t* const memory = reinterpret_cast<uint8_t*>(tensor.address);
  const int64_t chunks = (draw.elements + F::kElements - 1) / F::kElements;
  const Places places = PlacesOf(draw, variant);
  uint64_t changed = kNothing;
  for (int64_t chunk = FirstIndex(); chunk < chunks; chunk += Stride()) {
    uint32_t words[F::kWords];
    DrawChunk<kKind>(draw, places, variant, chunk * F::kElements, words);
    uint8_t* const place = memory + chunk * kChunkBytes;
    const int64_t left = tensor.bytes - chunk * kChunkBytes;
    if (left >= kChunkBytes) {
#pragma unroll
      for (int quad = 0; quad < F::kWords / 4; ++quad) {
        const uint4 drawn = make_uint4(words[4 * quad], words[4 * quad + 1], words[4 * quad + 2],
                                       words[4 * quad + 3]);
        uint4* const target = reinterpret_cast<uint4*>(place) + quad;
        if (finding == nullptr) {
          *target = drawn;
        } else {
          const uint4 there = *target;
          if (there.x != drawn.x || there.y != drawn.y || there.z != drawn.z ||
              there.w != drawn.w) {
            changed = min(changed, static_cast<uint64_t>(chunk));
          }
        }
      }
    } else {
      for (int i = 0; i < left; ++i) {
        const uint8_t byte = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
        if (finding == nullptr) {
          place[i] = byte;
        } else if (place[i] != byte) {
          changed = min(changed, static_cast<uint64_t>(chunk));
        }
      }
    }
  }
  if (finding != nullptr) Lower(finding, changed);
}

__device__ uint8_t ByteOf(uint64_t word, int64_t position) {
  return static_cast<uint8_t>(word >> (8 * (position % 8)));
}

}  // namespace

// Grid y: call * inputs + input. Writes the inputs of all calls or, if `findings` is given, one for
// each (call, input), checks them.
extern "C" __global__ void ksearch_draw(Tables tables, CallList calls, uint64_t* findings) {
  const int call = blockIdx.y / tables.inputs, input = blockIdx.y % tables.inputs;
  const DrawRow draw = tables.draws[input];
  if (draw.drawn == 0) return;
  const TensorRow tensor = RowOf(tables, calls.set[call], input);
  const uint64_t variant = static_cast<uint64_t>(calls.variant[call]);
  uint64_t* const finding = findings == nullptr ? nullptr : findings + blockIdx.y;
  switch (draw.kind) {
#define KSEARCH_DRAW(kind)                                  \
  case Kind::kind:                                          \
    DrawTensor<Kind::kind>(draw, tensor, variant, finding); \
    break;
    KSEARCH_DRAW(kFloat32)
    KSEARCH_DRAW(kFloat16)
    KSEARCH_DRAW(kBfloat16)
    KSEARCH_DRAW(kE4m3)
    KSEARCH_DRAW(kE5m2)
    KSEARCH_DRAW(kInt64)
    KSEARCH_DRAW(kInt32)
    KSEARCH_DRAW(kInt16)
    KSEARCH_DRAW(kInt8)
    KSEARCH_DRAW(kBool)
#undef KSEARCH_DRAW
  }
}

// Grid y: call * outputs + output.
extern "C" __global__ void ksearch_poison(Tables tables, CallList calls, PoisonList poison) {
  const int call = blockIdx.y / tables.outputs, output = blockIdx.y % tables.outputs;
  const TensorRow tensor = RowOf(tables, calls.set[call], tables.inputs + output);
  const uint64_t word = poison.word[output];
  uint8_t* const memory = reinterpret_cast<uint8_t*>(tensor.address);
  const int64_t words = tensor.bytes / 8;
  for (int64_t i = FirstIndex(); i < words; i += Stride()) {
    reinterpret_cast<uint64_t*>(memory)[i] = word;
  }
  if (FirstIndex() == 0) {
    for (int64_t i = words * 8; i < tensor.bytes; ++i) memory[i] = ByteOf(word, i);
  }
}

// Grid y: call * tensors + tensor. Writes guard bands or, if `findings` is given, checks them.
extern "C" __global__ void ksearch_guards(Tables tables, CallList calls, uint64_t word,
                                          uint64_t* findings) {
  const int tensors = tables.inputs + tables.outputs;
  const int call = blockIdx.y / tensors, index = blockIdx.y % tensors;
  const TensorRow tensor = RowOf(tables, calls.set[call], index);
  uint8_t* const mapping = reinterpret_cast<uint8_t*>(tensor.mapping);
  const int64_t begin = static_cast<int64_t>(tensor.address - tensor.mapping);
  const int64_t end = begin + tensor.bytes;
  const int64_t front = begin / 16;  // chunks; the tensor starts at one
  const int64_t back = end / 16;     // the first may belong to the tensor in part
  const int64_t chunks = front + tensor.mapping_bytes / 16 - back;
  const uint4 whole = make_uint4(static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32),
                                 static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32));
  uint64_t changed = kNothing;
  for (int64_t i = FirstIndex(); i < chunks; i += Stride()) {
    const int64_t position = 16 * (i < front ? i : back + i - front);
    if (position < begin || position >= end) {
      uint4* const place = reinterpret_cast<uint4*>(mapping + position);
      if (findings == nullptr) {
        *place = whole;
        continue;
      }
      const uint4 there = *place;
      if (there.x == whole.x && there.y == whole.y && there.z == whole.z && there.w == whole.w) {
        continue;
      }
    }
    for (int64_t p = position < begin ? position : max(position, end); p < position + 16; ++p) {
      if (findings == nullptr) {
        mapping[p] = ByteOf(word, p);
      } else if (mapping[p] != ByteOf(word, p)) {
        changed = min(changed, static_cast<uint64_t>(p));
        break;
      }
    }
  }
  if (findings != nullptr) {
    Lower(findings + call * FindingsOfACall(tables.inputs, tables.outputs) + index, changed);
  }
}

// Grid y: call * outputs + output. Copies outputs aside and looks for poison in what it copied.
extern "C" __global__ void ksearch_collect(Tables tables, CallList calls, PoisonList poison,
                                           uint64_t* findings) {
  const int call = blockIdx.y / tables.outputs, output = blockIdx.y % tables.outputs;
  const TensorRow tensor = RowOf(tables, calls.set[call], tables.inputs + output);
  const uint64_t word = poison.word[output];
  const int element_bytes = poison.element_bytes[output];
  const bool whole = poison.whole[output] != 0;
  const uint4* const from = reinterpret_cast<const uint4*>(tensor.address);
  uint4* const to = reinterpret_cast<uint4*>(tensor.copy);
  const int64_t chunks = (tensor.bytes + 15) / 16;
  uint64_t found = kNothing;
  for (int64_t chunk = FirstIndex(); chunk < chunks; chunk += Stride()) {
    const uint4 value = from[chunk];
    to[chunk] = value;
    const uint64_t halves[2] = {value.x | (static_cast<uint64_t>(value.y) << 32),
                                value.z | (static_cast<uint64_t>(value.w) << 32)};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t position = 16 * chunk + 8 * half;
      if (whole) {
        if (halves[half] != word && position + 8 <= tensor.bytes) {
          found = min(found, static_cast<uint64_t>(position / 8));
        }
        continue;
      }
      // An element is poison iff its bits of the difference are all zero.
      const uint64_t difference = halves[half] ^ word;
      bool any = false;
      if (element_bytes == 4) {
        any = static_cast<uint32_t>(difference) == 0 || (difference >> 32) == 0;
      } else {
        const uint32_t low = static_cast<uint32_t>(difference);
        const uint32_t high = static_cast<uint32_t>(difference >> 32);
        any = (element_bytes == 2 ? __vcmpeq2(low, 0) | __vcmpeq2(high, 0)
                                  : __vcmpeq4(low, 0) | __vcmpeq4(high, 0)) != 0;
      }
      if (!any) continue;
      for (int i = 0; i < 8; i += element_bytes) {
        const uint64_t mask = (uint64_t{1} << (8 * element_bytes)) - 1;
        if (((difference >> (8 * i)) & mask) == 0 && position + i < tensor.bytes) {
          found = min(found, static_cast<uint64_t>((position + i) / element_bytes));
        }
      }
    }
  }
  Lower(findings + call * FindingsOfACall(tables.inputs, tables.outputs) + tables.inputs +
            tables.outputs + output,
        found);
}

// One block of 64 threads a call: a hash of the beginnings of the copied outputs.
extern "C" __global__ void ksearch_fingerprint(Tables tables, CallList calls, uint64_t* findings) {
  __shared__ unsigned long long sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int output = 0; output < tables.outputs; ++output) {
    const TensorRow tensor = RowOf(tables, calls.set[blockIdx.x], tables.inputs + output);
    const int64_t bytes = min(tensor.bytes, kFingerprintBytes);
    if (8 * static_cast<int64_t>(threadIdx.x) >= bytes) continue;
    uint64_t h = reinterpret_cast<const uint64_t*>(tensor.copy)[threadIdx.x] +
                 0x9E3779B97F4A7C15u * static_cast<uint64_t>(threadIdx.x + 64 * output + 1);
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    atomicAdd(&sum, static_cast<unsigned long long>(h ^ (h >> 31)));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const int64_t stride = FindingsOfACall(tables.inputs, tables.outputs);
    findings[blockIdx.x * stride + stride - 1] = sum;
  }
}

// One PartialComparison a block; the rule is that of tensors/compare.h, and beside it the suite's.
extern "C" __global__ void ksearch_compare(Kind kind, const void* got, const void* oracle,
                                           int64_t elements, double atol, double rtol,
                                           int sum_of_bounds, ElementRule suite,
                                           PartialComparison* partials) {
  PartialComparison mine = {0, 0, 0, 0, 0, INT64_MAX, 0, 0, 0, 0, 0};
  for (int64_t i = FirstIndex(); i < elements; i += Stride()) {
    const double a = DecodeAt(kind, got, i);
    const double b = DecodeAt(kind, oracle, i);
    bool wrong;
    if (!isfinite(a) || !isfinite(b)) {
      wrong = !(a == b);
      if (isfinite(b)) ++mine.wrong_non_finite;
    } else {
      const double error = fabs(a - b);
      const double relative = error / (fabs(b) + 1e-8);
      wrong = sum_of_bounds != 0 ? error > atol + rtol * fabs(b) : error > atol && relative > rtol;
      mine.max_abs = fmax(mine.max_abs, error);
      mine.max_rel = fmax(mine.max_rel, relative);
      mine.error_squares += error * error;
      mine.oracle_squares += b * b;
    }
    if (suite.rule != Rule::kNone) {
      if (!isfinite(a)) ++mine.non_finite;
      if (IsWrongBy(suite, a, b)) ++mine.wrong_by_suite;
    }
    if (wrong) {
      ++mine.wrong;
      if (i < mine.first_wrong) {
        mine.first_wrong = i;
        mine.first_got = a;
        mine.first_expected = b;
      }
    }
  }
  __shared__ PartialComparison all[kThreads];
  all[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) >= half) continue;
    PartialComparison& left = all[threadIdx.x];
    const PartialComparison& right = all[threadIdx.x + half];
    left.max_abs = fmax(left.max_abs, right.max_abs);
    left.max_rel = fmax(left.max_rel, right.max_rel);
    left.error_squares += right.error_squares;
    left.oracle_squares += right.oracle_squares;
    left.wrong += right.wrong;
    left.non_finite += right.non_finite;
    left.wrong_non_finite += right.wrong_non_finite;
    left.wrong_by_suite += right.wrong_by_suite;
    if (right.first_wrong < left.first_wrong) {
      left.first_wrong = right.first_wrong;
      left.first_got = right.first_got;
      left.first_expected = right.first_expected;
    }
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = all[0];
}

extern "C" __global__ void ksearch_copy(uint4* to, const uint4* from, int64_t chunks) {
  for (int64_t i = FirstIndex(); i < chunks; i += Stride()) to[i] = from[i];
}

}  // namespace device
}  // namespace ksearch
