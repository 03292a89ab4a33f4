#include "gpu_worker/verifier/tensors/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ksearch {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

uint32_t Encoded(v1::DType dtype, double value, size_t bytes) {
  uint32_t code = 0;
  std::byte out[8] = {};
  EncodeElement(dtype, value, out);
  std::memcpy(&code, out, bytes);
  return code;
}

double Decoded(v1::DType dtype, uint32_t code) {
  std::byte memory[8] = {};
  std::memcpy(memory, &code, sizeof code);
  return DecodeElement(dtype, memory);
}

// Codes from the formats' definitions (IEEE 754 binary16, bfloat16, OCP 8-bit floats).
TEST(ElementTest, KnownCodes) {
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, 1.0, 2), 0x3C00u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, -65504.0, 2), 0xFBFFu);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, 0x1.0p-24, 2), 0x0001u);
  EXPECT_EQ(Encoded(v1::DTYPE_BFLOAT16, 1.0, 2), 0x3F80u);
  EXPECT_EQ(Encoded(v1::DTYPE_BFLOAT16, -2.5, 2), 0xC020u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT8_E4M3FN, 448.0, 1), 0x7Eu);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT8_E4M3FN, 1.0, 1), 0x38u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT8_E5M2, 57344.0, 1), 0x7Bu);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT8_E5M2, 1.0, 1), 0x3Cu);
}

TEST(ElementTest, RoundsToNearestEven) {
  // Halfway between 1 and the next number rounds to the even code below; just above rounds up.
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, 1.0 + 0x1.0p-11, 2), 0x3C00u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, 1.0 + 3 * 0x1.0p-11, 2), 0x3C02u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, 1.0 + 0x1.1p-11, 2), 0x3C01u);
  EXPECT_EQ(Encoded(v1::DTYPE_BFLOAT16, 1.0 + 0x1.0p-8, 2), 0x3F80u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT8_E4M3FN, 0x1.0p-10, 1), 0x00u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT8_E4M3FN, 0x1.8p-10, 1), 0x01u);
  // A carry into the exponent.
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, 2.0 - 0x1.0p-12, 2), 0x4000u);
}

TEST(ElementTest, OverflowAndNan) {
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, 1e6, 2), 0x7C00u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT16, 65520.0, 2), 0x7C00u);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT8_E5M2, -kInf, 1), 0xFCu);
  EXPECT_EQ(Encoded(v1::DTYPE_FLOAT8_E4M3FN, 1e4, 1), 0x7Fu);  // no infinity: NaN
  EXPECT_TRUE(std::isnan(Decoded(v1::DTYPE_FLOAT8_E4M3FN, 0x7F)));
  EXPECT_TRUE(std::isnan(Decoded(v1::DTYPE_FLOAT8_E5M2, 0x7D)));
  EXPECT_EQ(Decoded(v1::DTYPE_FLOAT8_E5M2, 0x7C), kInf);
  EXPECT_EQ(Decoded(v1::DTYPE_BFLOAT16, 0xFF80), -kInf);
}

TEST(ElementTest, EveryFiniteCodeSurvivesARoundTrip) {
  const std::pair<v1::DType, int> formats[] = {{v1::DTYPE_FLOAT16, 2},
                                               {v1::DTYPE_BFLOAT16, 2},
                                               {v1::DTYPE_FLOAT8_E4M3FN, 1},
                                               {v1::DTYPE_FLOAT8_E5M2, 1}};
  for (const auto& [dtype, bytes] : formats) {
    for (uint32_t code = 0; code < (1u << (8 * bytes)); ++code) {
      const double value = Decoded(dtype, code);
      if (!std::isnan(value)) {
        ASSERT_EQ(Encoded(dtype, value, static_cast<size_t>(bytes)), code) << v1::DType_Name(dtype);
      }
    }
  }
}

TEST(ElementTest, IntegersSaturateAndBoolIsZeroOrOne) {
  EXPECT_EQ(Encoded(v1::DTYPE_INT8, 300, 1), 0x7Fu);
  EXPECT_EQ(Encoded(v1::DTYPE_INT8, -300, 1), 0x80u);
  EXPECT_EQ(Encoded(v1::DTYPE_INT32, -1, 4), 0xFFFFFFFFu);
  EXPECT_EQ(Encoded(v1::DTYPE_BOOL, -0.5, 1), 1u);
  EXPECT_EQ(Decoded(v1::DTYPE_INT16, 0x8000), -32768);
}

}  // namespace
}  // namespace ksearch
