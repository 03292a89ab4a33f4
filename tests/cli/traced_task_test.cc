#include "cli/task/traced_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cli/task/torch_task_folder.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kTrace[] = R"({"function": "scale", "is_program": false, "returns_tuple": false,
  "title": "Scales", "notes": "Measured.", "held_out": ["n7"], "assumed": ["one", "two"],
  "tolerance": {"atol": 1e-06, "rtol": 0, "max_rms_error_ratio": 8, "rms_yardstick": 1e-7},
  "work": {"bytes": "8 * n"},
  "definition": {"name": "scale_f32", "op_type": "scale", "axes": {"n": {"type": "var"}},
    "inputs": {"x": {"shape": ["n"], "dtype": "float32"}, "count": {"shape": ["n"], "dtype": "int32"},
               "by": {"shape": null, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["n"], "dtype": "bfloat16"}}},
  "workloads": [{"definition": "scale_f32", "solution": null, "evaluation": null,
    "workload": {"uuid": "n7", "axes": {"n": 7}, "inputs": {"x": {"type": "random"},
      "count": {"type": "random"}, "by": {"type": "scalar", "value": 0.5}}}}]})";

TEST(TracedTaskTest, ReadsWhatTheScriptPrints) {
  const auto task = ParseTrace(kTrace);
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->function, "scale");
  EXPECT_EQ(task->definition.inputs_size(), 3);
  EXPECT_EQ(task->workloads.size(), 1u);
  EXPECT_THAT(task->settings.held_out(), ElementsAre("n7"));
  EXPECT_EQ(task->settings.tolerance().rms_yardstick(), 1e-7);
  EXPECT_EQ(task->settings.tolerance().rtol(), 0);
  EXPECT_EQ(task->settings.work().bytes(), "8 * n");
  EXPECT_THAT(task->assumed, ElementsAre("one", "two"));
}

TEST(TracedTaskTest, TheErrorOfTheScriptIsTheMessage) {
  EXPECT_EQ(ParseTrace(R"({"error": "f.py:3: argument '*x'"})").status(),
            absl::InvalidArgumentError("f.py:3: argument '*x'"));
}

TEST(TracedTaskTest, TextsThatAreNoTaskAreRefused) {
  const std::string good = kTrace;
  const std::pair<std::string, const char*> cases[] = {
      {"", "trace_task:1"},
      {"[]", "object"},
      {"{}", "function"},
      {"{\"function\": 3}", "function"},
      {"{\"function\": \"a\\nb\"}", "letters, digits and '_'"},
      {"{\"function\": \"<lambda>\"}", "letters, digits and '_'"},
      {good.substr(0, good.size() / 2), "trace_task:"},
      {absl::StrReplaceAll(good, {{"\"rtol\": 0", "\"rtol\": \"0\""}}), "tolerance.rtol"},
      {absl::StrReplaceAll(good, {{"1e-06", "1e999"}}), "trace_task:3"},
      {absl::StrReplaceAll(good, {{"\"is_program\": false", "\"is_program\": 0"}}), "is_program"},
      {absl::StrReplaceAll(good, {{"[\"one\", \"two\"]", "[1]"}}), "assumed"},
      {absl::StrReplaceAll(good, {{"\"bfloat16\"", "\"float64\""}}), "float64"},
      {absl::StrReplaceAll(good,
                           {{"\"x\": {\"type\": \"random\"}", "\"x\": {\"type\": \"file\"}"}}),
       "workload.inputs.x"},
  };
  for (const auto& [text, message] : cases) {
    const auto task = ParseTrace(text);
    ASSERT_FALSE(task.ok()) << text;
    EXPECT_THAT(task.status().message(), HasSubstr(message)) << text;
  }
}

TEST(TracedTaskTest, AnAnswerToAnotherQuestionIsRefused) {
  const TracedTask task = *ParseTrace(kTrace);
  TraceRequest request;
  request.name = "scale_f32";
  EXPECT_TRUE(CheckAnswers(request, task).ok());
  request.function = "scale";
  EXPECT_TRUE(CheckAnswers(request, task).ok());
  request.function = "other";
  EXPECT_THAT(CheckAnswers(request, task).message(), HasSubstr("not of 'other'"));
  request.function = "";
  request.name = "scale_f16";
  EXPECT_THAT(CheckAnswers(request, task).message(), HasSubstr("not of 'scale_f16'"));
}

TEST(TracedTaskTest, TheBaselineCallsTheFunctionAsItIs) {
  const TracedTask task = *ParseTrace(kTrace);
  const std::string text = BaselineText(task, "def scale(x, count, by): ...\n\n");
  EXPECT_THAT(text, StartsWith("def scale(x, count, by): ...\n\n\n#"));
  EXPECT_THAT(text, EndsWith("_ksearch_function = scale\n\n\ndef run(x, count, by):\n"
                             "    return _ksearch_function(x=x, count=count, by=by)\n"));
}

TEST(TracedTaskTest, AFunctionThatIsAProgramStaysAsItIs) {
  TracedTask task = *ParseTrace(kTrace);
  task.is_program = true;
  EXPECT_EQ(BaselineText(task, "def run(x, count, by): ...\n"), "def run(x, count, by): ...\n");
}

TEST(TracedTaskTest, TheReferenceComputesInFloat64) {
  TracedTask task = *ParseTrace(kTrace);
  EXPECT_THAT(ReferenceText(task, "def scale(x, count, by): ..."),
              EndsWith("    y = _ksearch_function(x=x.double(), count=count, by=by)\n"
                       "    return y.to(_ksearch_torch.bfloat16)\n"));
  task.returns_tuple = true;
  EXPECT_THAT(ReferenceText(task, ""), HasSubstr("    y, = _ksearch_function("));
  v1::TensorSpec* const more = task.definition.add_outputs();
  more->set_name("z");
  more->set_dtype(v1::DTYPE_INT64);
  EXPECT_THAT(ReferenceText(task, ""),
              EndsWith("    y, z = _ksearch_function(x=x.double(), count=count, by=by)\n"
                       "    return y.to(_ksearch_torch.bfloat16), z.to(_ksearch_torch.int64)\n"));
}

}  // namespace
}  // namespace ksearch
