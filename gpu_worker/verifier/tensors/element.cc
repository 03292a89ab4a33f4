#include "gpu_worker/verifier/tensors/element.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/log.h"

namespace ksearch {
namespace {

// A small binary float: sign, exponent, mantissa, from high bit to low.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool finite_only;  // the top exponent holds numbers, its last code NaN (e4m3fn)

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  uint32_t mantissa_mask() const { return (1u << mantissa_bits) - 1; }
  uint32_t exponent_mask() const { return (1u << exponent_bits) - 1; }
  uint32_t nan_code() const {
    return finite_only ? sign_bit() - 1
                       : (exponent_mask() << mantissa_bits) | (1u << (mantissa_bits - 1));
  }
};

constexpr SmallFloat kHalf = {5, 10, false};
constexpr SmallFloat kBrain = {8, 7, false};
constexpr SmallFloat kE4m3 = {4, 3, true};
constexpr SmallFloat kE5m2 = {5, 2, false};

double Decode(const SmallFloat& format, uint32_t code) {
  const double sign = (code & format.sign_bit()) != 0 ? -1.0 : 1.0;
  const uint32_t exponent = (code >> format.mantissa_bits) & format.exponent_mask();
  const uint32_t mantissa = code & format.mantissa_mask();
  if (format.finite_only) {
    if ((code & ~format.sign_bit()) == format.nan_code()) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  } else if (exponent == format.exponent_mask()) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) {
    return sign *
           std::ldexp(static_cast<double>(mantissa), 1 - format.bias() - format.mantissa_bits);
  }
  return sign * std::ldexp(static_cast<double>(mantissa + (1u << format.mantissa_bits)),
                           static_cast<int>(exponent) - format.bias() - format.mantissa_bits);
}

uint32_t Encode(const SmallFloat& format, double value) {
  const uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return sign | format.nan_code();
  const uint32_t overflow =
      format.finite_only ? format.nan_code() : format.exponent_mask() << format.mantissa_bits;
  if (std::isinf(value)) return sign | overflow;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent;
  std::frexp(magnitude, &exponent);  // magnitude = f * 2^exponent, f in [0.5, 1)
  const int unit = std::max(exponent - 1, 1 - format.bias()) - format.mantissa_bits;
  // In units of the last place; the default rounding mode is to nearest, ties to even.
  const double places = std::nearbyint(std::ldexp(magnitude, -unit));
  const uint64_t count = static_cast<uint64_t>(places);
  // Consecutive codes are consecutive numbers, so a carry into the exponent is correct.
  const uint64_t code = (static_cast<uint64_t>(unit + format.mantissa_bits - 1 + format.bias())
                         << format.mantissa_bits) +
                        count;
  const uint32_t limit = format.finite_only ? format.nan_code() : overflow;
  return sign | (code >= limit ? overflow : static_cast<uint32_t>(code));
}

template <typename T>
T Read(const std::byte* source, int64_t index) {
  T value;
  std::memcpy(&value, source + index * static_cast<int64_t>(sizeof(T)), sizeof value);
  return value;
}

template <typename T>
void DecodeAs(const std::byte* source, int64_t count, double* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(Read<T>(source, i));
}

template <typename T>
void Write(double value, std::byte* out) {
  T converted;
  if constexpr (std::numeric_limits<T>::is_integer) {
    const double rounded = std::nearbyint(value);
    if (!(rounded > static_cast<double>(std::numeric_limits<T>::min()))) {
      converted = std::numeric_limits<T>::min();
    } else if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) {
      converted = std::numeric_limits<T>::max();
    } else {
      converted = static_cast<T>(rounded);
    }
  } else {
    converted = static_cast<T>(value);
  }
  std::memcpy(out, &converted, sizeof converted);
}

std::array<double, 256> ByteTable(const SmallFloat& format) {
  std::array<double, 256> table;
  for (uint32_t code = 0; code < 256; ++code) table[code] = Decode(format, code);
  return table;
}

}  // namespace

bool IsFloating(v1::DType dtype) { return RelativeRounding(dtype) > 0; }

double RelativeRounding(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
      return 0x1.0p-24;
    case v1::DTYPE_FLOAT16:
      return 0x1.0p-11;
    case v1::DTYPE_BFLOAT16:
      return 0x1.0p-8;
    case v1::DTYPE_FLOAT8_E4M3FN:
      return 0x1.0p-4;
    case v1::DTYPE_FLOAT8_E5M2:
      return 0x1.0p-3;
    default:
      return 0;
  }
}

void DecodeElements(v1::DType dtype, const std::byte* source, int64_t count, double* out) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
      return DecodeAs<float>(source, count, out);
    case v1::DTYPE_FLOAT16:
      for (int64_t i = 0; i < count; ++i) out[i] = Decode(kHalf, Read<uint16_t>(source, i));
      return;
    case v1::DTYPE_BFLOAT16:
      for (int64_t i = 0; i < count; ++i) {
        const uint32_t bits = static_cast<uint32_t>(Read<uint16_t>(source, i)) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        out[i] = static_cast<double>(value);
      }
      return;
    case v1::DTYPE_FLOAT8_E4M3FN: {
      static const std::array<double, 256> table = ByteTable(kE4m3);
      for (int64_t i = 0; i < count; ++i) out[i] = table[Read<uint8_t>(source, i)];
      return;
    }
    case v1::DTYPE_FLOAT8_E5M2: {
      static const std::array<double, 256> table = ByteTable(kE5m2);
      for (int64_t i = 0; i < count; ++i) out[i] = table[Read<uint8_t>(source, i)];
      return;
    }
    case v1::DTYPE_INT64:
      return DecodeAs<int64_t>(source, count, out);
    case v1::DTYPE_INT32:
      return DecodeAs<int32_t>(source, count, out);
    case v1::DTYPE_INT16:
      return DecodeAs<int16_t>(source, count, out);
    case v1::DTYPE_INT8:
      return DecodeAs<int8_t>(source, count, out);
    case v1::DTYPE_BOOL:
      return DecodeAs<uint8_t>(source, count, out);
    default:
      CHECK(false);
  }
}

double DecodeElement(v1::DType dtype, const std::byte* source) {
  double value;
  DecodeElements(dtype, source, 1, &value);
  return value;
}

void EncodeElement(v1::DType dtype, double value, std::byte* out) {
  const auto write_code = [&](const SmallFloat& format, size_t bytes) {
    const uint32_t code = Encode(format, value);
    std::memcpy(out, &code, bytes);  // little-endian
  };
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
      return Write<float>(value, out);
    case v1::DTYPE_FLOAT16:
      return write_code(kHalf, 2);
    case v1::DTYPE_BFLOAT16:
      return write_code(kBrain, 2);
    case v1::DTYPE_FLOAT8_E4M3FN:
      return write_code(kE4m3, 1);
    case v1::DTYPE_FLOAT8_E5M2:
      return write_code(kE5m2, 1);
    case v1::DTYPE_INT64:
      return Write<int64_t>(value, out);
    case v1::DTYPE_INT32:
      return Write<int32_t>(value, out);
    case v1::DTYPE_INT16:
      return Write<int16_t>(value, out);
    case v1::DTYPE_INT8:
      return Write<int8_t>(value, out);
    case v1::DTYPE_BOOL:
      *out = std::byte{value != 0};
      return;
    default:
      CHECK(false);
  }
}

}  // namespace ksearch
