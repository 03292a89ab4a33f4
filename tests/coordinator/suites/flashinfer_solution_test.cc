#include "coordinator/suites/flashinfer/flashinfer_solution.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kSolution[] = R"({
  "name": "norm_v1",
  "definition": "norm",
  "author": "somebody",
  "description": null,
  "spec": {
    "language": "cuda",
    "target_hardware": ["NVIDIA H200", "cuda"],
    "entry_point": "src/main.cu::run",
    "dependencies": ["cublas"],
    "binding": "torch",
    "new_member": 1
  },
  "sources": [
    {"path": "src/main.cu", "content": "// code"},
    {"path": "row.h", "content": "// more"}
  ]
})";

std::string Fault(const std::string& from, const std::string& to) {
  const std::string text = absl::StrReplaceAll(kSolution, {{from, to}});
  EXPECT_NE(text, kSolution) << from;
  const auto solution = ParseFlashInferSolution(text, "a.json");
  EXPECT_EQ(solution.status().code(), absl::StatusCode::kInvalidArgument) << from;
  return std::string(solution.status().message());
}

TEST(FlashInferSolutionTest, AllThatItSaysIsRead) {
  const auto solution = ParseFlashInferSolution(kSolution, "a.json");
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->name, "norm_v1");
  EXPECT_EQ(solution->definition, "norm");
  EXPECT_EQ(solution->author, "somebody");
  EXPECT_EQ(solution->description, "");
  EXPECT_EQ(solution->language, "cuda");
  EXPECT_EQ(solution->binding, "torch");
  EXPECT_EQ(solution->entry_file, "src/main.cu");
  EXPECT_EQ(solution->entry_symbol, "run");
  EXPECT_THAT(solution->target_hardware, ElementsAre("NVIDIA H200", "cuda"));
  EXPECT_THAT(solution->dependencies, ElementsAre("cublas"));
  EXPECT_TRUE(solution->destination_passing);
  ASSERT_EQ(solution->sources.size(), 2U);
  EXPECT_EQ(solution->sources[1].path(), "row.h");
  EXPECT_EQ(solution->sources[1].content(), "// more");

  const auto returning = ParseFlashInferSolution(
      absl::StrReplaceAll(kSolution, {{"\"new_member\": 1", "\"destination_passing_style\": false"},
                                      {"\"binding\": \"torch\"", "\"binding\": null"}}),
      "a.json");
  ASSERT_TRUE(returning.ok()) << returning.status();
  EXPECT_FALSE(returning->destination_passing);
  EXPECT_EQ(returning->binding, "");
}

TEST(FlashInferSolutionTest, FaultsNameFileLineAndField) {
  EXPECT_THAT(Fault("\"cuda\",\n", "\"fortran\",\n"),
              AllOf(HasSubstr("a.json:7"), HasSubstr("spec.language"), HasSubstr("fortran")));
  EXPECT_THAT(Fault("\"torch\"", "\"ctypes\""),
              AllOf(HasSubstr("spec.binding"), HasSubstr("ctypes")));
  EXPECT_THAT(Fault("[\"NVIDIA H200\", \"cuda\"]", "[]"), HasSubstr("spec.target_hardware"));
  EXPECT_THAT(Fault("\"new_member\": 1", "\"destination_passing_style\": 1"),
              HasSubstr("spec.destination_passing_style"));
  EXPECT_THAT(Fault("main.cu::run", "main.cu"), HasSubstr("spec.entry_point"));
  EXPECT_THAT(Fault("main.cu::run", "main.cu::a::b"), HasSubstr("spec.entry_point"));
  EXPECT_THAT(Fault("src/main.cu::run", "main.cu::run"),
              AllOf(HasSubstr("spec.entry_point"), HasSubstr("no file of sources")));
  EXPECT_THAT(Fault("\"row.h\"", "\"src/main.cu\""), HasSubstr("sources[1].path"));
  EXPECT_THAT(Fault("\"row.h\"", "\"../row.h\""), HasSubstr("without '..'"));
  EXPECT_THAT(Fault("\"row.h\"", "\"/row.h\""), HasSubstr("relative"));
  EXPECT_THAT(Fault("\"// more\"", "\"\""), HasSubstr("sources[1].content"));
  EXPECT_THAT(Fault("\"norm_v1\"", "\"norm\\u001b[31m\""), HasSubstr("name"));
  EXPECT_THAT(Fault("\"somebody\"", "7"), HasSubstr("author"));
  EXPECT_FALSE(ParseFlashInferSolution("[]", "a.json").ok());
  EXPECT_FALSE(ParseFlashInferSolution("{", "a.json").ok());
}

}  // namespace
}  // namespace ksearch
