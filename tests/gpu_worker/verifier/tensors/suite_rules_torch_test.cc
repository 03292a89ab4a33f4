// Compares the same rules with torch, computed as the suites compute them, on pairs around the
// bounds: no element may differ.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/rng.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/tensors/element.h"
#include "gpu_worker/verifier/tensors/suite_rules.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"
#include "tests/common/python_with_torch.h"

namespace ksearch {
namespace {

// Writes a byte for each element and rule: 1 where it is wrong.
constexpr char kScript[] = R"py(import sys, torch

folder, dtype, tolerance = sys.argv[1], getattr(torch, sys.argv[2]), float(sys.argv[3])

def read(name):
    data = bytearray(open(folder + "/" + name, "rb").read())
    return torch.frombuffer(data, dtype=dtype)

got, oracle = read("got"), read("oracle")
error = torch.abs(got.to(torch.float32) - oracle.to(torch.float32))
relative = error / (torch.abs(oracle.to(torch.float32)) + 1e-8)
both = (error > tolerance) & (relative > tolerance)
close = torch.isclose(got, oracle, rtol=tolerance, atol=tolerance)
allowed = tolerance + tolerance * torch.abs(oracle)
same = (
    (error > allowed)
    | torch.logical_xor(torch.isnan(got), torch.isnan(oracle))
    | torch.logical_xor(torch.isposinf(got), torch.isposinf(oracle))
    | torch.logical_xor(torch.isneginf(got), torch.isneginf(oracle))
)
with open(folder + "/wrong", "wb") as file:
    for mask in (both, ~close, same):
        file.write(bytes(mask.to(torch.uint8).tolist()))
)py";

constexpr int64_t kPairs = 20000;

std::string Encoded(v1::DType dtype, const std::vector<double>& values, size_t bytes) {
  std::string text(values.size() * bytes, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    EncodeElement(dtype, values[i], reinterpret_cast<std::byte*>(&text[i * bytes]));
  }
  return text;
}

TEST(SuiteRulesTorchTest, EveryElementIsJudgedAsTorchJudgesIt) {
  if (!HasTorch()) GTEST_SKIP() << "no torch";
  const std::string folder = absl::StrCat(testing::TempDir(), "/suite_rules");
  std::filesystem::create_directories(folder);
  constexpr double kSpecial[] = {0,
                                 -0.0,
                                 1e-7,
                                 65504,
                                 -3e38,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  struct Case {
    v1::DType dtype;
    const char* name;
    size_t bytes;
    double tolerance;
  };
  // Tolerances that the small types represent exactly: on processors some versions of torch round
  // them to the tensor's type, and others use float32, as on GPUs.
  Rng rng(20261127);
  for (const Case& each :
       {Case{v1::DTYPE_FLOAT32, "float32", 4, 1e-4}, Case{v1::DTYPE_FLOAT32, "float32", 4, 1e-2},
        Case{v1::DTYPE_FLOAT16, "float16", 2, 0.01171875},
        Case{v1::DTYPE_BFLOAT16, "bfloat16", 2, 0.01171875},
        Case{v1::DTYPE_BFLOAT16, "bfloat16", 2, 0.01953125}}) {
    std::vector<double> oracle, got;
    for (const double a : kSpecial) {
      for (const double b : kSpecial) {
        got.push_back(a);
        oracle.push_back(b);
      }
    }
    while (static_cast<int64_t>(oracle.size()) < kPairs) {
      const double b =
          std::ldexp(2 * rng.NextDouble() - 1, static_cast<int>(rng.NextBelow(16)) - 8);
      const double bound = each.tolerance * (1 + std::fabs(b));
      const double off = bound * (rng.NextBelow(2) == 0 ? 1 + 0.02 * (rng.NextDouble() - 0.5)
                                                        : 2 * rng.NextDouble());
      oracle.push_back(b);
      got.push_back(rng.NextBelow(2) == 0 ? b + off : b - off);
    }
    const std::string got_bytes = Encoded(each.dtype, got, each.bytes);
    const std::string oracle_bytes = Encoded(each.dtype, oracle, each.bytes);
    ASSERT_TRUE(WriteFileAtomically(folder + "/got", got_bytes).ok());
    ASSERT_TRUE(WriteFileAtomically(folder + "/oracle", oracle_bytes).ok());
    SubprocessOptions options;
    options.argv = {kPython, "-c",      kScript,
                    folder,  each.name, absl::StrFormat("%.17g", each.tolerance)};
    const absl::StatusOr<CommandOutput> ran = RunCommand(options, absl::Minutes(2));
    ASSERT_TRUE(ran.ok()) << ran.status();
    ASSERT_EQ(ran->exit.code, 0) << ran->err;
    const auto wrong = ReadFile(folder + "/wrong", 1 << 20);
    ASSERT_TRUE(wrong.ok()) << wrong.status();
    ASSERT_EQ(wrong->size(), 3 * oracle.size());
    size_t place = 0;
    for (const auto rule : {v1::SuiteRule::FINITE_AND_MATCHED, v1::SuiteRule::TORCH_ALLCLOSE,
                            v1::SuiteRule::SAME_NON_FINITE}) {
      v1::SuiteRule suite_rule;
      suite_rule.set_rule(rule);
      suite_rule.set_atol(each.tolerance);
      suite_rule.set_rtol(each.tolerance);
      const device::ElementRule element_rule = ElementRuleOf(suite_rule, each.dtype);
      int wrong_ones = 0, differing = 0;
      for (size_t i = 0; i < oracle.size(); ++i, ++place) {
        const double a = DecodeElement(
            each.dtype, reinterpret_cast<const std::byte*>(&got_bytes[i * each.bytes]));
        const double b = DecodeElement(
            each.dtype, reinterpret_cast<const std::byte*>(&oracle_bytes[i * each.bytes]));
        const bool expected = (*wrong)[place] != 0;
        wrong_ones += expected ? 1 : 0;
        if (device::IsWrongBy(element_rule, a, b) == expected) continue;
        if (++differing <= 3) {
          ADD_FAILURE() << v1::SuiteRule::Rule_Name(rule) << " of " << each.name << ", tolerance "
                        << each.tolerance << ": got " << a << ", oracle " << b << ": torch says "
                        << (expected ? "wrong" : "right");
        }
      }
      EXPECT_EQ(differing, 0);
      // Pairs are on both sides of the bounds.
      EXPECT_GT(wrong_ones, kPairs / 20);
      EXPECT_LT(wrong_ones, kPairs * 19 / 20);
    }
  }
}

}  // namespace
}  // namespace ksearch
