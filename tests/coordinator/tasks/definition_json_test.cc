#include "coordinator/tasks/definition_json.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr char kGood[] = R"({
  "name": "scale_add",
  "op_type": "elementwise",
  "axes": {
    "n": {"type": "var", "description": "length"},
    "lanes": {"type": "const", "value": 4}
  },
  "inputs": {
    "q": {"shape": ["n", "lanes"], "dtype": "bfloat16"},
    "a": {"shape": ["n"], "dtype": "float32", "optional": true},
    "factor": {"shape": null, "dtype": "float32"}
  },
  "outputs": {
    "out": {"shape": ["n"], "dtype": "float32", "description": "sum"}
  },
  "constraints": ["n > 0"],
  "tags": ["stage:any"]
})";

std::string ErrorAfter(absl::string_view from, absl::string_view to) {
  const std::string text = absl::StrReplaceAll(kGood, {{from, to}});
  EXPECT_NE(text, kGood) << "the text to replace is not there: " << from;
  return std::string(ParseDefinitionJson(text, "d.json").status().message());
}

TEST(DefinitionJsonTest, ReadsEveryFieldInOrder) {
  const auto definition = ParseDefinitionJson(kGood, "d.json");
  ASSERT_TRUE(definition.ok()) << definition.status();
  EXPECT_EQ(definition->name(), "scale_add");
  ASSERT_EQ(definition->axes_size(), 2);
  EXPECT_EQ(definition->axes(0).name(), "n");
  EXPECT_FALSE(definition->axes(0).has_const_value());
  EXPECT_EQ(definition->axes(1).const_value(), 4);
  ASSERT_EQ(definition->inputs_size(), 3);
  EXPECT_EQ(definition->inputs(0).name(), "q");
  EXPECT_EQ(definition->inputs(1).name(), "a");
  EXPECT_EQ(definition->inputs(0).dtype(), v1::DTYPE_BFLOAT16);
  EXPECT_EQ(definition->inputs(0).shape_size(), 2);
  EXPECT_TRUE(definition->inputs(2).scalar());
  EXPECT_EQ(definition->outputs(0).description(), "sum");
  EXPECT_EQ(definition->constraints(0), "n > 0");
  EXPECT_EQ(definition->tags(0), "stage:any");
}

TEST(DefinitionJsonTest, WrittenTextReadsBackEqual) {
  const auto definition = ParseDefinitionJson(kGood, "d.json");
  ASSERT_TRUE(definition.ok()) << definition.status();
  const std::string text = DefinitionToJson(*definition);
  const auto again = ParseDefinitionJson(text, "again.json");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->SerializeAsString(), definition->SerializeAsString());
  EXPECT_EQ(DefinitionToJson(*again), text);
}

TEST(DefinitionJsonTest, ErrorsNameFileLineAndField) {
  EXPECT_EQ(ErrorAfter("[\"n\", \"lanes\"]", "[\"n\", \"foo\"]"),
            "d.json:9: inputs.q.shape[1]: unknown axis 'foo'");
  EXPECT_EQ(ErrorAfter("[\"n\", \"lanes\"]", "[\"n\", 4]"),
            "d.json:9: inputs.q.shape[1]: must be the name of an axis, is an integer");
  EXPECT_EQ(ErrorAfter("\"bfloat16\"", "\"bf16\""),
            "d.json:9: inputs.q.dtype: unknown dtype 'bf16'");
  EXPECT_EQ(ErrorAfter("\"shape\": null, ", ""),
            "d.json:11: inputs.factor.shape: is missing (null means a scalar)");
  EXPECT_EQ(ErrorAfter("\"value\": 4", "\"value\": -4"),
            "d.json:6: axes.lanes.value: must be from 0 to 1099511627776");
  EXPECT_EQ(ErrorAfter("\"value\": 4", "\"value\": 4.0"),
            "d.json:6: axes.lanes.value: must be an integer, is a float");
  EXPECT_EQ(ErrorAfter("\"const\"", "\"constant\""),
            "d.json:6: axes.lanes.type: must be \"const\" or \"var\", is \"constant\"");
  EXPECT_EQ(ErrorAfter("\"out\":", "\"a\":"), "d.json:14: outputs.a: an input has the same name");
  EXPECT_EQ(ErrorAfter("\"op_type\"", "\"optype\""), "d.json:1: op_type: is missing");
  EXPECT_EQ(ErrorAfter("\"scale_add\"", "\"scale/add\""),
            "d.json:2: name: may hold only letters, digits, '_', '.' and '-'");
  EXPECT_EQ(ErrorAfter("[\"n > 0\"]", "[\"n > 0\", 3]"),
            "d.json:16: constraints[1]: must be a string, is an integer");
  EXPECT_EQ(ErrorAfter("\"factor\"", "\"a\""), "d.json:11: member 'a' occurs twice");
}

TEST(DefinitionJsonTest, RejectsOtherThanAnObject) {
  EXPECT_EQ(ParseDefinitionJson("[]", "d").status().message(),
            "d:1: must be an object, is an array");
}

TEST(DefinitionJsonTest, RejectsAnOversizedText) {
  EXPECT_THAT(
      std::string(
          ParseDefinitionJson(std::string(kMaxDefinitionBytes + 1, ' '), "d").status().message()),
      HasSubstr("larger than"));
}

}  // namespace
}  // namespace ksearch
