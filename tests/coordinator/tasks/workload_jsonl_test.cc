#include "coordinator/tasks/workload_jsonl.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/tasks/definition_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr char kDefinition[] = R"({"name": "decode", "op_type": "gqa",
  "axes": {"b": {"type": "var"}, "p": {"type": "var"}, "len": {"type": "var"},
           "n": {"type": "var"}, "d": {"type": "const", "value": 8}},
  "inputs": {"q": {"shape": ["b", "d"], "dtype": "float32"},
             "indptr": {"shape": ["len"], "dtype": "int32"},
             "pages": {"shape": ["n"], "dtype": "int32"},
             "scale": {"shape": null, "dtype": "float32"},
             "top": {"shape": null, "dtype": "int32"}},
  "outputs": {"out": {"shape": ["b", "d"], "dtype": "float32"}}})";

constexpr char kLine[] =
    R"({"definition": "decode", "solution": null, "workload": {"uuid": "w1", )"
    R"("axes": {"n": 9, "b": 3, "p": 20, "len": 4}, )"
    R"("inputs": {"scale": {"type": "scalar", "value": 0.5}, "top": {"type": "scalar", "value": 2}, )"
    R"("q": {"type": "random", "scale": 0.5, "offset": 1}, )"
    R"("indptr": {"type": "random", "recipe": "indptr", "total_axis": "n", "min_length": 1}, )"
    R"("pages": {"type": "random", "recipe": "page_indices", "pool_axis": "p", "contiguous": false}}}, )"
    R"("evaluation": null})";

v1::Definition Decode() { return ParseDefinitionJson(kDefinition, "d.json").value(); }

std::string ErrorAfter(absl::string_view from, absl::string_view to) {
  const std::string line = absl::StrReplaceAll(kLine, {{from, to}});
  EXPECT_NE(line, kLine) << "the text to replace is not there: " << from;
  return std::string(
      ParseWorkloadJsonl(absl::StrCat("\n", line, "\n"), "w.jsonl", Decode()).status().message());
}

TEST(WorkloadJsonlTest, ReadsRecipesInDefinitionOrder) {
  const auto workloads = ParseWorkloadJsonl(kLine, "w.jsonl", Decode());
  ASSERT_TRUE(workloads.ok()) << workloads.status();
  ASSERT_EQ(workloads->size(), 1u);
  const v1::Workload& workload = workloads->front();
  EXPECT_EQ(workload.uuid(), "w1");
  EXPECT_FALSE(workload.held_out());
  ASSERT_EQ(workload.axes_size(), 4);
  EXPECT_EQ(workload.axes(0).axis(), "b");
  EXPECT_EQ(workload.axes(3).value(), 9);
  ASSERT_EQ(workload.inputs_size(), 5);
  EXPECT_EQ(workload.inputs(0).input(), "q");
  EXPECT_EQ(workload.inputs(0).random().scale(), 0.5);
  EXPECT_EQ(workload.inputs(0).random().offset(), 1);
  EXPECT_EQ(workload.inputs(1).indptr().total_axis(), "n");
  EXPECT_EQ(workload.inputs(1).indptr().min_length(), 1);
  EXPECT_EQ(workload.inputs(2).page_indices().pool_axis(), "p");
  EXPECT_EQ(workload.inputs(3).scalar().float_value(), 0.5);
  EXPECT_EQ(workload.inputs(4).scalar().int_value(), 2);
}

TEST(WorkloadJsonlTest, AnIntegerScalarStaysAnInteger) {
  const std::string line = absl::StrReplaceAll(kLine, {{"\"value\": 0.5", "\"value\": 0"}});
  const auto workloads = ParseWorkloadJsonl(line, "w.jsonl", Decode());
  ASSERT_TRUE(workloads.ok()) << workloads.status();
  EXPECT_EQ(workloads->front().inputs(3).scalar().value_case(), v1::ScalarRecipe::kIntValue);
}

TEST(WorkloadJsonlTest, WrittenLineReadsBackEqual) {
  const auto workloads = ParseWorkloadJsonl(kLine, "w.jsonl", Decode());
  ASSERT_TRUE(workloads.ok()) << workloads.status();
  const std::string line = WorkloadToJsonLine("decode", workloads->front());
  const auto again = ParseWorkloadJsonl(line, "again", Decode());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->front().SerializeAsString(), workloads->front().SerializeAsString());
  EXPECT_THAT(line, testing::Not(HasSubstr("\n")));
}

TEST(WorkloadJsonlTest, ErrorsNameFileLineAndField) {
  EXPECT_EQ(ErrorAfter("\"b\": 3, ", ""), "w.jsonl:2: workload.axes.b: is missing");
  EXPECT_EQ(ErrorAfter("\"b\": 3", "\"b\": -3"),
            "w.jsonl:2: workload.axes.b: must be from 0 to 1099511627776");
  EXPECT_EQ(ErrorAfter("\"b\": 3", "\"b\": 3, \"d\": 8"),
            "w.jsonl:2: workload.axes.d: the definition has no variable axis 'd'");
  EXPECT_EQ(ErrorAfter("\"q\":", "\"k\":"), "w.jsonl:2: workload.inputs.q: is missing");
  EXPECT_EQ(ErrorAfter("\"q\":", "\"k\": {}, \"q\":"),
            "w.jsonl:2: workload.inputs.k: the definition has no such input");
  EXPECT_EQ(ErrorAfter("\"value\": 2", "\"value\": 2.5"),
            "w.jsonl:2: workload.inputs.top.value: is a float, which is no int32");
  EXPECT_EQ(ErrorAfter("\"value\": 2", "\"value\": \"2\""),
            "w.jsonl:2: workload.inputs.top.value: is a string, which is no int32");
  EXPECT_EQ(ErrorAfter("\"definition\": \"decode\"", "\"definition\": \"other\""),
            "w.jsonl:2: definition: is \"other\", but the definition's name is \"decode\"");
  EXPECT_EQ(
      ErrorAfter("\"solution\": null", "\"solution\": \"s\""),
      "w.jsonl:2: solution: must be null: this line is a trace of an evaluation, no workload");
  EXPECT_EQ(ErrorAfter("\"total_axis\": \"n\"", "\"total_axis\": \"m\""),
            "w.jsonl:2: workload.inputs.indptr.total_axis: unknown axis 'm'");
  EXPECT_EQ(ErrorAfter("\"min_length\": 1", "\"min_length\": 4"),
            "w.jsonl:2: workload.inputs.indptr.min_length: 3 segments of 4 do not fit into 9");
  EXPECT_EQ(ErrorAfter("\"p\": 20", "\"p\": 5"),
            "w.jsonl:2: workload.inputs.pages.pool_axis: there are more indices than the 5 pages "
            "of 'p'");
  EXPECT_EQ(ErrorAfter("\"recipe\": \"indptr\"", "\"recipe\": \"ragged\""),
            "w.jsonl:2: workload.inputs.indptr.recipe: unknown recipe \"ragged\"; known: "
            "\"indptr\", \"page_indices\"");
  EXPECT_EQ(ErrorAfter("\"offset\": 1", "\"shift\": 1"),
            "w.jsonl:2: workload.inputs.q.shift: is no setting of this recipe");
  EXPECT_EQ(ErrorAfter("\"scale\": 0.5", "\"scale\": 0"),
            "w.jsonl:2: workload.inputs.q.scale: must not be 0");
  EXPECT_EQ(ErrorAfter("\"type\": \"random\", \"scale\": 0.5, \"offset\": 1",
                       "\"type\": \"random\", \"recipe\": \"indptr\", \"total_axis\": \"n\""),
            "w.jsonl:2: workload.inputs.q.recipe: needs an int32 or int64 input of one dimension");
}

TEST(WorkloadJsonlTest, RejectsAUuidThatOccursTwice) {
  const std::string text = absl::StrCat(kLine, "\n\n", kLine, "\n");
  EXPECT_EQ(ParseWorkloadJsonl(text, "w.jsonl", Decode()).status().message(),
            "w.jsonl:3: workload.uuid: \"w1\" is already that of line 1");
}

TEST(WorkloadJsonlTest, RejectsAnOverlongLine) {
  const std::string text = absl::StrCat(std::string(kMaxWorkloadLineBytes, ' '), kLine);
  EXPECT_THAT(std::string(ParseWorkloadJsonl(text, "w", Decode()).status().message()),
              HasSubstr("w:1: longer than"));
}

}  // namespace
}  // namespace ksearch
