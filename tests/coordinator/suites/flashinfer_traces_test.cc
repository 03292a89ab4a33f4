#include "coordinator/suites/flashinfer/flashinfer_traces.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

std::string Line(const std::string& solution, const std::string& uuid, const std::string& status,
                 const std::string& performance, const std::string& hardware = "NVIDIA H200") {
  return absl::StrCat(R"({"definition": "norm", "workload": {"uuid": ")", uuid,
                      R"("}, "solution": )", solution, R"(, "evaluation": {"status": ")", status,
                      R"(", "environment": {"hardware": ")", hardware, R"("}, "performance": )",
                      performance, "}}\n");
}

TEST(FlashInferTracesTest, EvaluationsAreReadAndOtherLinesPassedOver) {
  const std::string text = absl::StrCat(
      Line("\"a\"", "u1", "PASSED", R"({"latency_ms": 0.5, "reference_latency_ms": 2})"),
      "{broken norm\n", "\n", R"({"definition": "other", "note": "norm"})", "\n",
      Line("null", "u2", "PASSED", "null"), Line("\"a\"", "u2", "RUNTIME_ERROR", "null"),
      Line("\"b\"", "u1", "PASSED", R"({"latency_ms": "Infinity", "reference_latency_ms": -1})"),
      Line("\"c\"", "u1", "PASSED", "null", "evil\\u001b[2J"),
      R"({"definition": "norm", "workload": {"uuid": "u"}, "solution": "d", "evaluation": null})");
  const auto traces = ParseFlashInferTraces(text, "norm.jsonl", "norm");
  ASSERT_EQ(traces.size(), 3U);
  EXPECT_EQ(traces[0].solution, "a");
  EXPECT_EQ(traces[0].workload_uuid, "u1");
  EXPECT_EQ(traces[0].hardware, "NVIDIA H200");
  EXPECT_EQ(traces[0].latency_ms, 0.5);
  EXPECT_EQ(traces[0].reference_latency_ms, 2);
  EXPECT_EQ(traces[1].status, "RUNTIME_ERROR");
  EXPECT_EQ(traces[1].latency_ms, 0);
  EXPECT_EQ(traces[2].solution, "b");
  EXPECT_EQ(traces[2].latency_ms, 0);
  EXPECT_EQ(traces[2].reference_latency_ms, 0);
}

TEST(FlashInferTracesTest, RecordSaysWhatPassedWhereAndHowFast) {
  const std::string text = absl::StrCat(
      Line("\"a\"", "u1", "PASSED", R"({"latency_ms": 0.5, "reference_latency_ms": 2})"),
      Line("\"a\"", "u2", "PASSED", R"({"latency_ms": 1, "reference_latency_ms": 2})"),
      Line("\"a\"", "u3", "INCORRECT_NUMERICAL", "null"),
      Line("\"a\"", "u1", "COMPILE_ERROR", "null", "NVIDIA B200"));
  const auto traces = ParseFlashInferTraces(text, "norm.jsonl", "norm");
  EXPECT_EQ(RecordOf(traces, "a"),
            "0 of 1 passed on NVIDIA B200; 2 of 3 passed on NVIDIA H200, 3.00x its reference");
  EXPECT_EQ(RecordOf(traces, "b"), "");
}

}  // namespace
}  // namespace ksearch
