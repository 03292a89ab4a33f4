#include "coordinator/tasks/workload_jsonl.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/task_limits.h"
#include "coordinator/tasks/definition_json.h"
#include "coordinator/tasks/workload_line.h"
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

TEST(WorkloadJsonlTest, UniformInputsRoundTrip) {
  const auto definition = ParseDefinitionJson(
      R"({"name": "d", "op_type": "o", "axes": {"n": {"type": "var"}},
          "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
          "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}})",
      "definition.json");
  ASSERT_TRUE(definition.ok()) << definition.status();
  const std::string line =
      R"({"definition": "d", "workload": {"uuid": "w", "axes": {"n": 8}, "inputs": {"x": )"
      R"({"type": "random", "scale": 2, "distribution": "uniform"}}}})";
  const auto workload = ParseWorkloadLine(line, "w.jsonl", 7, *definition);
  ASSERT_TRUE(workload.ok()) << workload.status();
  EXPECT_EQ(workload->inputs(0).random().distribution(), v1::RandomRecipe::UNIFORM);
  const auto again =
      ParseWorkloadLine(WorkloadToJsonLine("d", *workload), "again.jsonl", 1, *definition);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->SerializeAsString(), workload->SerializeAsString());
  EXPECT_THAT(std::string(ParseWorkloadLine("{", "w.jsonl", 7, *definition).status().message()),
              testing::HasSubstr("w.jsonl:7"));
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

TEST(WorkloadJsonlTest, ReadsTheShapeOfRandomValues) {
  const v1::Definition definition = ParseDefinitionJson(R"({"name": "decode", "op_type": "x",
      "axes": {"n": {"type": "var"}, "l": {"type": "var"}, "m": {"type": "var"}},
      "inputs": {"x": {"shape": ["n"], "dtype": "float32"}, "mask": {"shape": ["n"], "dtype": "bool"},
                 "q": {"shape": ["l"], "dtype": "int32"}, "k": {"shape": ["l"], "dtype": "int32"}},
      "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}})",
                                                        "d.json")
                                        .value();
  const std::string line =
      R"({"definition": "decode", "workload": {"uuid": "w", "axes": {"n": 8, "l": 3, "m": 10}, )"
      R"("inputs": {"x": {"type": "random", "distribution": "cauchy", )"
      R"("raise": {"first": 2, "count": 3, "by": 0.5}}, )"
      R"("mask": {"type": "random", "probability": 1}, )"
      R"("q": {"type": "random", "recipe": "indptr", "total_axis": "n"}, )"
      R"("k": {"type": "random", "recipe": "indptr", "total_axis": "m", "min_length": 1, "plus": "q"}}}})";
  const auto workloads = ParseWorkloadJsonl(line, "w", definition);
  ASSERT_TRUE(workloads.ok()) << workloads.status();
  const v1::Workload& workload = workloads->front();
  EXPECT_EQ(workload.inputs(0).random().distribution(), v1::RandomRecipe::CAUCHY);
  EXPECT_EQ(workload.inputs(0).random().raise(), 0.5);
  EXPECT_EQ(workload.inputs(0).random().raise_first(), 2);
  EXPECT_EQ(workload.inputs(0).random().raise_count(), 3);
  EXPECT_EQ(workload.inputs(1).random().probability(), 1);
  EXPECT_EQ(workload.inputs(3).indptr().plus(), "q");
  const auto again = ParseWorkloadJsonl(WorkloadToJsonLine("decode", workload), "w", definition);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->front().SerializeAsString(), workload.SerializeAsString());

  const auto error_after = [&](absl::string_view from, absl::string_view to) {
    const std::string changed = absl::StrReplaceAll(line, {{from, to}});
    EXPECT_NE(changed, line) << from;
    return std::string(ParseWorkloadJsonl(changed, "w", definition).status().message());
  };
  EXPECT_THAT(error_after("\"cauchy\"", "\"flat\""), HasSubstr("inputs.x.distribution"));
  EXPECT_THAT(error_after("\"count\": 3", "\"count\": 7"),
              HasSubstr("inputs.x.raise: must lie within the 8 of 'n'"));
  EXPECT_THAT(error_after("\"by\": 0.5", "\"more\": 0.5"), HasSubstr("inputs.x.raise.more"));
  EXPECT_THAT(error_after("\"probability\": 1", "\"probability\": 0"),
              HasSubstr("inputs.mask.probability: must be in (0, 1]"));
  EXPECT_THAT(error_after("\"plus\": \"q\"", "\"plus\": \"x\""),
              HasSubstr("inputs.k.plus: must name an earlier input"));
  EXPECT_THAT(error_after("\"m\": 10", "\"m\": 9"), HasSubstr("2 segments of 1 do not fit into 1"));
}

TEST(WorkloadJsonlTest, ReadsTheRangeOfIntegers) {
  const v1::Definition definition = ParseDefinitionJson(R"({"name": "count", "op_type": "x",
      "axes": {"n": {"type": "var"}},
      "inputs": {"x": {"shape": ["n"], "dtype": "int16"}, "y": {"shape": ["n"], "dtype": "float32"}},
      "outputs": {"z": {"shape": ["n"], "dtype": "float32"}}})",
                                                        "d.json")
                                        .value();
  const std::string line =
      R"({"definition": "count", "workload": {"uuid": "w", "axes": {"n": 8}, "inputs": )"
      R"({"x": {"type": "random", "least": -7, "most": 32767}, "y": {"type": "random"}}}})";
  const auto workloads = ParseWorkloadJsonl(line, "w", definition);
  ASSERT_TRUE(workloads.ok()) << workloads.status();
  EXPECT_EQ(workloads->front().inputs(0).random().least(), -7);
  EXPECT_EQ(workloads->front().inputs(0).random().most(), 32767);
  const auto again =
      ParseWorkloadJsonl(WorkloadToJsonLine("count", workloads->front()), "w", definition);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->front().SerializeAsString(), workloads->front().SerializeAsString());
  const auto error_after = [&](absl::string_view from, absl::string_view to) {
    const std::string changed = absl::StrReplaceAll(line, {{from, to}});
    return std::string(ParseWorkloadJsonl(changed, "w", definition).status().message());
  };
  EXPECT_THAT(error_after("32767", "32768"), HasSubstr("inputs.x.most: is no int16"));
  EXPECT_THAT(error_after("32767", "-7"), HasSubstr("inputs.x.most: must be above \"least\""));
  EXPECT_THAT(error_after("\"least\": -7, ", ""), HasSubstr("inputs.x.least: is missing"));
  EXPECT_THAT(
      error_after("{\"type\": \"random\"}", "{\"type\": \"random\", \"least\": 0, \"most\": 1}"),
      HasSubstr("inputs.y.least: is for integer inputs only"));
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
  EXPECT_EQ(ErrorAfter("\"b\": 3", "\"b\": 3, \"z\": 8"),
            "w.jsonl:2: workload.axes.z: the definition has no axis 'z'");
  EXPECT_EQ(ErrorAfter("\"b\": 3", "\"b\": 3, \"d\": 9"),
            "w.jsonl:2: workload.axes.d: is always 8 by the definition");
  EXPECT_EQ(ErrorAfter("\"b\": 3", "\"b\": 3, \"d\": 8"), "");
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
            "\"indptr\", \"page_indices\", \"make_inputs\"");
  EXPECT_EQ(ErrorAfter("\"offset\": 1", "\"shift\": 1"),
            "w.jsonl:2: workload.inputs.q.shift: is not a setting of this recipe");
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

TEST(WorkloadJsonlTest, RejectsAUuidThatTerminalsWouldObey) {
  EXPECT_EQ(ErrorAfter("\"uuid\": \"w1\"", "\"uuid\": \"w\\u001b[31m\""),
            "w.jsonl:2: workload.uuid: must be letters, digits and punctuation of ASCII, without "
            "blanks");
}

TEST(WorkloadJsonlTest, RejectsAnOverlongLine) {
  const std::string text = absl::StrCat(std::string(kMaxWorkloadLineBytes, ' '), kLine);
  EXPECT_THAT(std::string(ParseWorkloadJsonl(text, "w", Decode()).status().message()),
              HasSubstr("w:1: longer than"));
}

TEST(WorkloadJsonlTest, RejectsMoreWorkloadsThanAJobMayHave) {
  const std::string line = kLine;
  std::string text;
  for (int i = 0; i < kMaxWorkloads; ++i) {
    absl::StrAppend(&text, absl::StrReplaceAll(line, {{"\"w1\"", absl::StrCat("\"w", i, "\"")}}),
                    "\n");
  }
  const auto most = ParseWorkloadJsonl(text, "w.jsonl", Decode());
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_EQ(most->size(), static_cast<size_t>(kMaxWorkloads));
  absl::StrAppend(&text, absl::StrReplaceAll(line, {{"\"w1\"", "\"more\""}}), "\n");
  EXPECT_THAT(std::string(ParseWorkloadJsonl(text, "w.jsonl", Decode()).status().message()),
              testing::AllOf(testing::StartsWith("w.jsonl:1025: task '"),
                             HasSubstr(Decode().name()), HasSubstr("more than 1024 workloads")));
}

}  // namespace
}  // namespace ksearch
