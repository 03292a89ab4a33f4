#include "gpu_worker/verifier/cuda/device_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "common/rng.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

TEST(DeviceMathTest, PhiloxIsThatOfTheHost) {
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t key = i * 0x9E3779B97F4A7C15u, low = i * i * 77, high = i << 33;
    const auto expected = Philox(key).Block(low, high);
    const device::Four got = device::PhiloxBlock(key, low, high);
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(got.v[k], expected[k]);
  }
}

struct Small {
  v1::DType dtype;
  device::Kind kind;
  int exponent_bits, mantissa_bits;
  bool finite_only;
};
constexpr Small kSmall[] = {
    {v1::DTYPE_FLOAT16, device::Kind::kFloat16, 5, 10, false},
    {v1::DTYPE_FLOAT8_E4M3FN, device::Kind::kE4m3, 4, 3, true},
    {v1::DTYPE_FLOAT8_E5M2, device::Kind::kE5m2, 5, 2, false},
};

uint32_t HostCode(v1::DType dtype, double value) {
  std::byte bytes[8] = {};
  EncodeElement(dtype, value, bytes);
  uint32_t code;
  std::memcpy(&code, bytes, sizeof code);
  return code;
}

TEST(DeviceMathTest, EveryCodeDecodesAsOnTheHost) {
  for (const Small& small : kSmall) {
    const uint32_t codes = 1u << (1 + small.exponent_bits + small.mantissa_bits);
    for (uint32_t code = 0; code < codes; ++code) {
      const double expected = DecodeElement(small.dtype, reinterpret_cast<const std::byte*>(&code));
      const double got = device::DecodeAt(small.kind, &code, 0);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << code;
      } else {
        EXPECT_EQ(got, expected) << code;
        EXPECT_EQ(std::signbit(got), std::signbit(expected)) << code;
      }
    }
  }
  for (uint32_t code = 0; code < 65536; ++code) {
    const double expected =
        DecodeElement(v1::DTYPE_BFLOAT16, reinterpret_cast<const std::byte*>(&code));
    const double got = device::DecodeAt(device::Kind::kBfloat16, &code, 0);
    EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected))) << code;
  }
}

TEST(DeviceMathTest, FloatsEncodeAsOnTheHost) {
  Rng rng(5);
  for (int i = 0; i < 300'000; ++i) {
    // Half are random bits, half lie in the range of small formats and on their ties.
    float value = device::FloatOf(static_cast<uint32_t>(rng.Next()));
    if (i % 2 == 0) {
      const int exponent = static_cast<int>(rng.NextBelow(64)) - 40;
      value = static_cast<float>(
          std::ldexp(static_cast<double>(rng.NextBelow(1 << 13)) - 4096, exponent));
    }
    if (std::isnan(value) || std::fpclassify(value) == FP_SUBNORMAL) continue;
    for (const Small& small : kSmall) {
      EXPECT_EQ(
          device::EncodeSmall(value, small.exponent_bits, small.mantissa_bits, small.finite_only),
          HostCode(small.dtype, static_cast<double>(value)))
          << value;
    }
    EXPECT_EQ(device::EncodeBrain(value), HostCode(v1::DTYPE_BFLOAT16, static_cast<double>(value)))
        << value;
  }
  EXPECT_TRUE(std::isnan(device::DecodeSmall(
      device::EncodeSmall(std::numeric_limits<float>::quiet_NaN(), 4, 3, true), 4, 3, true)));
}

TEST(DeviceMathTest, NormalsAreNormal) {
  double sum = 0, squares = 0, fourth = 0;
  const int blocks = 200'000;
  for (uint64_t i = 0; i < blocks; ++i) {
    float values[4];
    device::FourNormals(device::PhiloxBlock(9, i, 3), values);
    for (const float value : values) {
      const double square = static_cast<double>(value) * static_cast<double>(value);
      sum += static_cast<double>(value);
      squares += square;
      fourth += square * square;
    }
  }
  EXPECT_NEAR(sum / (4 * blocks), 0, 0.005);
  EXPECT_NEAR(squares / (4 * blocks), 1, 0.01);
  EXPECT_NEAR(fourth / (4 * blocks), 3, 0.08);
}

TEST(DeviceMathTest, CauchyHasItsQuartilesAndStaysFinite) {
  int inner = 0, negative = 0;
  const int count = 100'000;
  Rng rng(6);
  for (int i = 0; i < count; ++i) {
    const float value = device::Cauchy(static_cast<uint32_t>(rng.Next()));
    ASSERT_TRUE(std::isfinite(value));
    inner += std::fabs(value) < 1 ? 1 : 0;
    negative += value < 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(inner) / count, 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>(negative) / count, 0.5, 0.01);
  EXPECT_TRUE(std::isfinite(device::Cauchy(0)));
  EXPECT_TRUE(std::isfinite(device::Cauchy(~0u)));
  EXPECT_EQ(device::Cauchy(0), -device::Cauchy(~0u));
}

TEST(DeviceMathTest, StudentHasItsQuartilesAndIsBounded) {
  int inner = 0, far = 0;
  const int count = 100'000;
  Rng rng(8);
  for (int i = 0; i < count; ++i) {
    const float value = device::Student2(static_cast<uint32_t>(rng.Next()));
    ASSERT_LT(std::fabs(value), 2897.0F);
    inner += std::fabs(value) < 0.8165F ? 1 : 0;
    far += std::fabs(value) > 4 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(inner) / count, 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>(far) / count, 0.0572, 0.005);
  EXPECT_GT(device::Student2(~0u), 2800.0F);
  EXPECT_EQ(device::Student2(0), -device::Student2(~0u));
}

}  // namespace
}  // namespace ksearch
