#include "coordinator/suites/problem_description.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kGood[] = R"({"init": [64, 0.5, true, null, {"tuple": [1, 2]}, [3], "a'b\n"],
 "inputs": [{"name": "x", "dtype": "float32", "shape": [32, 64],
             "recipe": {"kind": "uniform", "scale": 1.0, "offset": 0.0}},
            {"name": "new", "value": 3}],
 "parameters": [{"name": "p_w", "path": "fc.weight", "dtype": "float32", "shape": [64],
                 "recipe": {"kind": "constant", "offset": 1.0}}],
 "buffers": [{"name": "b_n", "path": "norm.count", "dtype": "int64", "shape": [],
              "recipe": {"kind": "recorded", "values": "0700000000000000"}}],
 "outputs": [{"name": "out", "dtype": "float32", "shape": [32]}]})";

std::string ErrorOf(const std::string& json) {
  return std::string(ParseProblemDescription(json, "p.py").status().message());
}
std::string ErrorWith(absl::string_view from, absl::string_view to) {
  const std::string changed = absl::StrReplaceAll(kGood, {{from, to}});
  EXPECT_NE(changed, kGood) << from;
  return ErrorOf(changed);
}

TEST(ProblemDescriptionTest, DescribedCaseBecomesADefinitionAndAWorkload) {
  const auto problem = ParseProblemDescription(kGood, "p.py");
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->init,
            "[64, 0.5, True, None, (1, 2, ), [3, ], bytes.fromhex('6127620a').decode('utf-8'), ]");
  v1::Task task;
  FreezeDescription(*problem, &task);
  const v1::Definition& definition = task.definition();
  ASSERT_EQ(definition.inputs_size(), 4);
  EXPECT_THAT(definition.inputs(0).shape(), ElementsAre("n32", "n64"));
  EXPECT_EQ(definition.inputs(1).name(), "new_");  // a keyword of C++
  EXPECT_TRUE(definition.inputs(1).scalar());
  EXPECT_EQ(definition.inputs(3).shape_size(), 0);
  EXPECT_FALSE(definition.inputs(3).scalar());
  EXPECT_EQ(definition.axes_size(), 2);
  EXPECT_EQ(definition.axes(0).const_value(), 32);
  ASSERT_EQ(task.workloads_size(), 1);
  const v1::Workload& workload = task.workloads(0);
  EXPECT_EQ(workload.inputs(0).random().distribution(), v1::RandomRecipe::UNIFORM);
  EXPECT_EQ(workload.inputs(1).scalar().int_value(), 3);
  EXPECT_EQ(workload.inputs(2).random().offset(), 1);
  EXPECT_LT(workload.inputs(2).random().scale(), 1e-200);
  EXPECT_EQ(workload.inputs(3).recorded().values(), std::string("\7\0\0\0\0\0\0\0", 8));
}

TEST(ProblemDescriptionTest, WhatTheProblemSaysIsTheError) {
  EXPECT_EQ(ErrorOf(R"({"error": "input 'A' is\nsymmetric"})"), "p.py: input 'A' is symmetric");
}

TEST(ProblemDescriptionTest, WrongDescriptionsNameTheField) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr("p.py:1"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("p.py:1"));
  EXPECT_THAT(ErrorWith("\"name\": \"x\"", "\"name\": \"x y\""), HasSubstr("inputs[0].name"));
  EXPECT_THAT(ErrorWith("\"name\": \"x\"", "\"name\": \"out\""), HasSubstr("outputs[0].name"));
  EXPECT_THAT(ErrorWith("[32, 64]", "[32, -1]"), HasSubstr("inputs[0].shape"));
  EXPECT_THAT(ErrorWith("[32, 64]", "[32, 6.5]"), HasSubstr("inputs[0].shape"));
  EXPECT_THAT(ErrorWith("fc.weight", "fc\\\"+evil()+\\\""), HasSubstr("parameters[0].path"));
  EXPECT_THAT(ErrorWith("\"scale\": 1.0", "\"scale\": -1.0"), HasSubstr("recipe.scale"));
  EXPECT_THAT(ErrorWith("\"scale\": 1.0", "\"scale\": 1e300"), HasSubstr("recipe.scale"));
  EXPECT_THAT(ErrorWith("uniform", "cauchy"), HasSubstr("cauchy"));
  EXPECT_THAT(ErrorWith("[32, 64],", "[32, 64], \"written\": 1,"), HasSubstr("inputs[0].written"));
  EXPECT_THAT(ErrorWith("0700000000000000", "07"), HasSubstr("must be 8 bytes"));
  EXPECT_THAT(ErrorWith("0700000000000000", "07000000000000zz"), HasSubstr("hexadecimal"));
  EXPECT_THAT(ErrorWith("\"tuple\"", "\"list\""), HasSubstr("init"));
  EXPECT_THAT(ErrorWith("\"dtype\": \"int64\"", "\"dtype\": \"complex64\""),
              HasSubstr("buffers[0].dtype"));
  EXPECT_THAT(ErrorWith("{\"name\": \"out\", \"dtype\": \"float32\", \"shape\": [32]}", ""),
              HasSubstr("has no output"));
}

TEST(ProblemDescriptionTest, TooManyTensorsAreRefused) {
  std::string inputs;
  for (int i = 0; i < 70; ++i) {
    absl::StrAppend(&inputs, i == 0 ? "" : ",", R"({"name": "i)", i, R"(", "value": 1})");
  }
  EXPECT_THAT(ErrorOf(absl::StrCat(R"({"init": [], "inputs": [)", inputs,
                                   R"(], "parameters": [], "buffers": [],
 "outputs": [{"name": "out", "dtype": "float32", "shape": [32]}]})")),
              HasSubstr("more than 62"));
}

}  // namespace
}  // namespace ksearch
