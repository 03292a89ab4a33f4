#include "cli/task/flashinfer_export.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/textproto.h"
#include "coordinator/suites/flashinfer/flashinfer_solution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr char kDefinition[] = R"({"name": "double", "op_type": "scale",
  "axes": {"n": {"type": "var"}},
  "inputs": {"x": {"shape": ["n"], "dtype": "float32"}, "s": {"shape": null, "dtype": "float32"}},
  "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}, "reference": "def run(x, s): ..."})";
constexpr char kLines[] =
    R"({"definition": "double", "workload": {"uuid": "a", "axes": {"n": 8}, "inputs": {"x": {"type": "random"}, "s": {"type": "scalar", "value": 2.0}}}, "solution": null, "evaluation": null}
{"definition": "other", "workload": {"uuid": "b", "axes": {}, "inputs": {}}}
)";

class FlashInferExportTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ksearch-export-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "definitions/scale");
    fs::create_directories(root_ / "workloads");
    std::ofstream(root_ / "definitions/scale/double.json") << kDefinition;
    std::ofstream(root_ / "workloads/double.jsonl") << kLines;
    SetProgram("def run(x, s, y):\n    y.copy_(x * s)\n");
    best_.set_run_id("r1");
    best_.mutable_best()->set_candidate_id("0123456789abcdef");
    v1::JobResult& result = *best_.mutable_confirmation();
    result.mutable_device()->set_name("NVIDIA H200");
    result.mutable_device()->set_harness_version("9");
    v1::Comparison* const comparison = result.add_comparisons();
    comparison->set_rival_id("baseline");
    for (const char* uuid : {"a", "a_held_out"}) {
      v1::WorkloadResult* const workload = result.add_workloads();
      workload->set_workload_uuid(uuid);
      workload->mutable_correctness()->set_max_abs_error(0.25);
      v1::Comparison::PerWorkload* const times = comparison->add_workloads();
      times->set_workload_uuid(uuid);
      times->set_candidate_median_us(50);
      times->set_rival_median_us(200);
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  void SetProgram(const std::string& text) {
    v1::Sources& sources = *best_.mutable_sources();
    sources.Clear();
    sources.set_language(v1::LANGUAGE_PYTHON);
    sources.add_files()->set_path("kernel.py");
    sources.mutable_files(0)->set_content(text);
  }
  absl::StatusOr<FlashInferExport> Make(const std::string& definition = "double") {
    return MakeFlashInferExport(best_, definition, root_.string(), absl::FromUnixSeconds(0));
  }

  fs::path root_;
  v1::BestReply best_;
};

TEST_F(FlashInferExportTest, SolutionAndTracesHaveUpstreamsForm) {
  const auto made = Make();
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->solution_path, "solutions/ksearch/scale/double/double_ksearch_01234567.json");
  const json solution = json::parse(made->solution);
  EXPECT_EQ(solution["name"], "double_ksearch_01234567");
  EXPECT_EQ(solution["definition"], "double");
  EXPECT_EQ(solution["author"], "ksearch");
  EXPECT_EQ(solution["spec"]["language"], "python");
  EXPECT_EQ(solution["spec"]["entry_point"], "kernel.py::run");
  EXPECT_EQ(solution["spec"]["destination_passing_style"], true);
  EXPECT_EQ(solution["spec"]["target_hardware"], json::array({"NVIDIA H200"}));
  EXPECT_EQ(solution["sources"][0]["content"], best_.sources().files(0).content());

  EXPECT_EQ(made->workloads, 1);
  EXPECT_EQ(made->traces_path, "traces/ksearch/scale/double.jsonl");
  const json trace = json::parse(made->traces);
  EXPECT_EQ(trace["solution"], solution["name"]);
  EXPECT_EQ(trace["workload"],
            json::parse(std::string(kLines).substr(0, std::string(kLines).find('\n')))["workload"]);
  const json& evaluation = trace["evaluation"];
  EXPECT_EQ(evaluation["status"], "PASSED");
  EXPECT_EQ(evaluation["timestamp"], "1970-01-01T00:00:00");
  EXPECT_EQ(evaluation["environment"]["hardware"], "NVIDIA H200");
  EXPECT_EQ(evaluation["correctness"]["max_absolute_error"], 0.25);
  EXPECT_EQ(evaluation["performance"]["latency_ms"], 0.05);
  EXPECT_EQ(evaluation["performance"]["reference_latency_ms"], 0.2);
  EXPECT_EQ(evaluation["performance"]["speedup_factor"], 4);
}

TEST_F(FlashInferExportTest, ValueReturningAndTritonProgramsAreToldApart) {
  SetProgram("import triton\n\ndef run(x,\n        s=dict(a=1, b=2),):\n    return x\n");
  const auto made = Make();
  ASSERT_TRUE(made.ok()) << made.status();
  const json spec = json::parse(made->solution)["spec"];
  EXPECT_EQ(spec["language"], "triton");
  EXPECT_EQ(spec["destination_passing_style"], false);
}

TEST_F(FlashInferExportTest, AProgramWithDefaultsBehindItsInputsReturnsItsOutputs) {
  for (const char* parameters :
       {"x, s, block=64", "x, s=2, block=64, warps=4", "x, s, *, block=64", "x, /, s"}) {
    SetProgram(absl::StrCat("def run(", parameters, "):\n    return x * s\n"));
    const auto made = Make();
    ASSERT_TRUE(made.ok()) << parameters << ": " << made.status();
    EXPECT_EQ(json::parse(made->solution)["spec"]["destination_passing_style"], false)
        << parameters;
  }
  SetProgram("def run(x, s, y, block=64):\n    y.copy_(x * s)\n");
  EXPECT_EQ(json::parse(Make()->solution)["spec"]["destination_passing_style"], true);
  SetProgram("def run(x, *rest):\n    return x * rest[0]\n");
  EXPECT_FALSE(Make().ok());
}

TEST_F(FlashInferExportTest, WhatCannotBeExportedIsNamed) {
  EXPECT_EQ(Make("nosuch").status().code(), absl::StatusCode::kNotFound);
  SetProgram("def run(*args):\n    pass\n");
  EXPECT_THAT(std::string(Make().status().message()), HasSubstr("must take the 2 inputs"));
  *best_.mutable_sources()->add_files() = best_.sources().files(0);
  EXPECT_THAT(std::string(Make().status().message()), HasSubstr("several files"));
}

TEST_F(FlashInferExportTest, ProgramInCudaIsASolutionWithTorchsBinding) {
  v1::Sources& sources = *best_.mutable_sources();
  sources.set_language(v1::LANGUAGE_CUDA);
  sources.mutable_files(0)->set_path("kernel.cu");
  sources.mutable_files(0)->set_content("#include \"ksearch_task.h\"\n");
  const auto made = Make();
  ASSERT_TRUE(made.ok()) << made.status();
  // Solutions are read by this parser.
  const auto solution = ParseFlashInferSolution(made->solution, "solution.json");
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->language, "cuda");
  EXPECT_EQ(solution->binding, "torch");
  EXPECT_EQ(solution->entry_file, "ksearch_binding.cpp");
  EXPECT_TRUE(solution->destination_passing);
  EXPECT_EQ(solution->sources.size(), 3U);
}

TEST_F(FlashInferExportTest, WritingTwiceIsRefusedAndTracesAreAppended) {
  const fs::path traces = root_ / "traces/ksearch/scale/double.jsonl";
  fs::create_directories(traces.parent_path());
  std::ofstream(traces) << "{}\n";
  const auto made = Make();
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(WriteFlashInferExport(*made, root_.string()).ok());
  EXPECT_EQ(ReadFile(traces.string(), 1 << 20).value_or(""), "{}\n" + made->traces);
  EXPECT_EQ(ReadFile((root_ / made->solution_path).string(), 1 << 20).value_or(""), made->solution);
  EXPECT_EQ(WriteFlashInferExport(*made, root_.string()).code(), absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace ksearch
