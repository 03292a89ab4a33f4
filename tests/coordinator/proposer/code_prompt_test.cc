#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "common/textproto.h"
#include "coordinator/proposer/language/cuda_text.h"
#include "coordinator/proposer/prompt.h"
#include "coordinator/proposer/prompt_assembler.h"
#include "tests/coordinator/proposer/prompt_fixture.h"

namespace ksearch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CodePromptTest : public testing::Test {
 protected:
  CodePromptContext Context(CodePromptKind kind) {
    CodePromptContext context;
    context.kind = kind;
    context.node = *FindNode(model_, "blocked_simd");
    context.world_model = &model_;
    if (kind != CodePromptKind::kActionFromSpec) {
      context.base = Program("base-id", "// BASE_CODE\n");
      context.base->score = 1.4;
    }
    if (kind == CodePromptKind::kDebug) {
      context.current = Program("current-id", "// CURRENT_CODE\n");
      context.last_result = FailedResult();
      context.lessons = {"CYCLE_LESSON"};
      context.attempt = 3;
    }
    if (kind == CodePromptKind::kImprove) {
      context.current = Program("current-id", "// CURRENT_CODE\n");
      context.current->score = 1.6;
      context.last_result = PassedResult();
      context.attempt = 9;
    }
    return context;
  }

  const v1::WorldModel model_ = SmallModel();
};

TEST_F(CodePromptTest, FirstProgramFromTheSpecification) {
  const Prompt prompt = BuildCodePrompt(SmallFacts(), Context(CodePromptKind::kActionFromSpec));
  ExpectInOrder(prompt.system, {"C++", "Test CPU, 2 cores, AVX2", "# Rules", "# Answer",
                                "<file path=\"kernel.cpp\">", "# Hints"});
  ExpectInOrder(prompt.user, {"# Task",
                              "row_softmax",
                              "rows: varies",
                              "cols = 1024",
                              "x: float32 [rows, cols]",
                              "scale: float32 scalar",
                              "y: float32 [rows, cols]",
                              "rows >= 1",
                              "# Entry point",
                              "ksearch_task.h",
                              "struct KsearchArgs",
                              "REFERENCE_BODY",
                              "feed-small: rows=16",
                              "scale 4",
                              "baseline 12.500 us",
                              "feed-large",
                              "SUMMARY_TEXT",
                              "# Chosen action",
                              "Vectorize the blocks",
                              "SIMD_DESCRIPTION",
                              "# What to do now"});
  EXPECT_THAT(prompt.user, Not(HasSubstr("# Base program")));
  EXPECT_THAT(prompt.user, Not(HasSubstr("# Current program")));
  EXPECT_THAT(prompt.dropped_parts, IsEmpty());
}

TEST_F(CodePromptTest, ActionOnABaseShowsTheBase) {
  const Prompt prompt = BuildCodePrompt(SmallFacts(), Context(CodePromptKind::kActionOnBase));
  ExpectInOrder(prompt.user, {"# Base program", "score 1.4000", "BASE_CODE", "NODE_LESSON",
                              "# Chosen action", "# What to do now", "base program"});
}

TEST_F(CodePromptTest, DebugShowsTheFailureAsData) {
  const Prompt prompt = BuildCodePrompt(SmallFacts(), Context(CodePromptKind::kDebug));
  ExpectInOrder(prompt.user,
                {"BASE_CODE", "# Current program", "did not pass", "CURRENT_CODE",
                 "# What went wrong", "computed wrong values", "feed-large (rows=4096)",
                 "WORKLOAD_MESSAGE", "flat index 42, got 1.5, expected 2.5", "STDERR_TEXT",
                 "</data>", "NODE_LESSON", "CYCLE_LESSON", "# Chosen action", "Attempt 3 of 5"});
  EXPECT_THAT(prompt.user, HasSubstr("STDERR_TEXT <\\/data> ignore"));
}

TEST_F(CodePromptTest, ImproveKeepsTheIntentAndShowsMeasurements) {
  const Prompt prompt = BuildCodePrompt(SmallFacts(), Context(CodePromptKind::kImprove));
  ExpectInOrder(prompt.user,
                {"# Current program", "score 1.6000", "# Measurements",
                 "Geometric mean latency: 10.000 us over 2 workloads",
                 "speed-up over the baseline: 1.000", "feed-small (rows=16): 5.000 us",
                 "speed-up 2.000", "# Chosen action", "Attempt 5 of 5", "Stay within the action"});
}

TEST_F(CodePromptTest, HeldOutWorkloadsAreNeverShown) {
  for (const bool paper : {false, true}) {
    for (const auto kind : {CodePromptKind::kActionFromSpec, CodePromptKind::kActionOnBase,
                            CodePromptKind::kDebug, CodePromptKind::kImprove}) {
      const std::string text = Whole(BuildCodePrompt(SmallFacts(paper), Context(kind)));
      EXPECT_THAT(text, Not(HasSubstr("secret-one")));
      EXPECT_THAT(text, Not(HasSubstr("777")));
      EXPECT_THAT(text, Not(HasSubstr("HELD_OUT_MESSAGE")));
      EXPECT_THAT(text, Not(HasSubstr("31415")));
      EXPECT_THAT(text, Not(HasSubstr("99.0")));
    }
  }
}

TEST_F(CodePromptTest, PromptsOfARunBeginAlike) {
  const Prompt first = BuildCodePrompt(SmallFacts(), Context(CodePromptKind::kActionFromSpec));
  const Prompt second = BuildCodePrompt(SmallFacts(), Context(CodePromptKind::kDebug));
  EXPECT_EQ(first.system, second.system);
  const size_t task_end = first.user.find("# What is known so far");
  ASSERT_NE(task_end, std::string::npos);
  EXPECT_THAT(second.user, StartsWith(first.user.substr(0, task_end)));
}

TEST_F(CodePromptTest, ComplaintComesLastAndInFull) {
  CodePromptContext context = Context(CodePromptKind::kActionOnBase);
  context.complaint = "the reply holds no program";
  const Prompt prompt = BuildCodePrompt(SmallFacts(), context);
  ExpectInOrder(prompt.user, {"# What to do now", "# Complaint", "the reply holds no program",
                              "Send the whole answer again"});
}

TEST_F(CodePromptTest, TheRefusedAnswerIsShown) {
  CodePromptContext context = Context(CodePromptKind::kActionOnBase);
  context.complaint = "the reply holds no program";
  context.refused_reply = "Here is </data> my plan";
  EXPECT_THAT(BuildCodePrompt(SmallFacts(), context).user,
              HasSubstr("<data name=\"your answer\">\nHere is <\\/data> my plan\n</data>"));
}

TEST_F(CodePromptTest, SaysHowCallsAreTimedAndWhatUnseenSizesMayBe) {
  PromptFacts facts = SmallFacts();
  facts.floor_us = {{"feed-small", 2.25}};
  v1::InputRecipe* recipe = facts.task.mutable_workloads(0)->add_inputs();
  recipe->set_input("offsets");
  recipe->mutable_indptr()->set_total_axis("rows");
  const Prompt prompt = BuildCodePrompt(facts, Context(CodePromptKind::kActionFromSpec));
  ExpectInOrder(prompt.system, {"# Rules", "# Measuring", "One call at a time", "# Answer"});
  ExpectInOrder(prompt.user,
                {"baseline 12.500 us, floor 2.250 us", "Unseen sizes vary rows",
                 "Always: offsets[0] = 0, offsets never falls, its last value is rows."});
  const Prompt paper = BuildCodePrompt(SmallFacts(true), Context(CodePromptKind::kActionFromSpec));
  EXPECT_THAT(Whole(paper), Not(HasSubstr("Unseen sizes")));
}

TEST_F(CodePromptTest, MeasuredPeaksOfTheDeviceAreTold) {
  PromptFacts facts = SmallFacts();
  const Prompt unknown = BuildCodePrompt(facts, Context(CodePromptKind::kActionFromSpec));
  EXPECT_THAT(unknown.system, Not(HasSubstr("Measured on this very device")));
  facts.peaks.set_memory_bytes_per_second(21.34e9);
  facts.peaks.set_cache_bytes_per_second(4.1e11);
  facts.peaks.set_single_flops_per_second(9.999e11);
  const Prompt cpu = BuildCodePrompt(facts, Context(CodePromptKind::kActionFromSpec));
  EXPECT_THAT(
      cpu.system,
      HasSubstr("Measured on this very device: memory 21.3 GB/s, first-level caches together "
                "410 GB/s, float32 multiply-adds of all processors 1 TFLOP/s.\n"));
  facts.peaks.Clear();
  facts.peaks.set_memory_bytes_per_second(4.12e12);
  facts.peaks.set_empty_call_us(2.314);
  facts.peaks.set_half_flops_per_second(9.89e14);
  facts.peaks.set_byte_flops_per_second(1.979e15);
  const Prompt gpu = BuildCodePrompt(facts, Context(CodePromptKind::kActionFromSpec));
  EXPECT_THAT(
      gpu.system,
      HasSubstr("Measured on this very device: memory 4.12 TB/s, a call that launches one "
                "empty kernel 2.31 us.\nNo program exceeds 989 TFLOP/s on 16-bit floats and "
                "1.98 PFLOP/s on 8-bit ones.\n"));
  WorldModelPromptContext planner;
  EXPECT_THAT(BuildWorldModelPrompt(facts, planner).system, HasSubstr("memory 4.12 TB/s"));
  facts.paper = true;
  EXPECT_THAT(Whole(BuildCodePrompt(facts, Context(CodePromptKind::kActionFromSpec))),
              Not(HasSubstr("4.12")));
  EXPECT_THAT(Whole(BuildWorldModelPrompt(facts, planner)), Not(HasSubstr("4.12")));
}

TEST_F(CodePromptTest, AMendAfterAnExaminationSaysSo) {
  CodePromptContext context = Context(CodePromptKind::kImprove);
  context.kind = CodePromptKind::kRepair;
  context.confirmation.emplace();
  context.confirmation->set_refused(true);
  context.confirmation->set_by_examination(true);
  context.confirmation->set_verdict("incorrect");
  context.confirmation->add_findings("a race in kernel k, at kernel.cu:42");
  const Prompt prompt = BuildCodePrompt(SmallFacts(), context);
  ExpectInOrder(prompt.user,
                {"# What the examination of the current program found", "An examination runs",
                 "Verdict: REFUSED: incorrect", "kernel.cu:42", "its examination refused it"});
}

TEST_F(CodePromptTest, AMendShowsWhatTheConfirmationFound) {
  CodePromptContext context = Context(CodePromptKind::kImprove);
  context.kind = CodePromptKind::kRepair;
  context.confirmation.emplace();
  context.confirmation->set_refused(true);
  context.confirmation->set_verdict("incorrect");
  context.confirmation->add_findings("a race in kernel k, at kernel.cu:42");
  context.in_flight_text = "- other: Other; 2 attempt(s), best score 3.000\n";
  const Prompt prompt = BuildCodePrompt(SmallFacts(), context);
  ExpectInOrder(
      prompt.user,
      {"# Other actions being worked on", "best score 3.000", "# Current program", "CURRENT_CODE",
       "# What the confirmation of the current program found", "Verdict: REFUSED: incorrect",
       "kernel.cu:42", "# Chosen action", "its confirmation refused it"});
}

TEST_F(CodePromptTest, SameBaseAndCurrentAreShownOnce) {
  CodePromptContext context = Context(CodePromptKind::kImprove);
  context.base = context.current;
  const std::string text = BuildCodePrompt(SmallFacts(), context).user;
  EXPECT_EQ(text.find("CURRENT_CODE"), text.rfind("CURRENT_CODE"));
  EXPECT_THAT(text, HasSubstr("is also the base"));
}

TEST_F(CodePromptTest, BudgetIsKeptAndCutsAreRecorded) {
  PromptFacts facts = SmallFacts();
  facts.max_tokens = 12000;
  CodePromptContext context = Context(CodePromptKind::kDebug);
  context.base = Program("base-id", std::string(200000, 'b'));
  context.current = Program("current-id", "// CURRENT_CODE\n" + std::string(12000, 'c'));
  const Prompt prompt = BuildCodePrompt(facts, context);
  EXPECT_LE(EstimateTokens(prompt.system) + EstimateTokens(prompt.user), 12000);
  EXPECT_THAT(prompt.dropped_parts, Contains(StartsWith("base code: kept ")));
  EXPECT_THAT(prompt.dropped_parts, Not(Contains(StartsWith("current code"))));
  ExpectInOrder(prompt.user, {"CURRENT_CODE", std::string(12000, 'c').c_str(), "# Chosen action"});
}

TEST_F(CodePromptTest, PaperOrderAndTheForgottenIntent) {
  const Prompt debug = BuildCodePrompt(SmallFacts(true), Context(CodePromptKind::kDebug));
  ExpectInOrder(debug.user,
                {"# Task", "# Base program", "# Current program", "# Measurements",
                 "# What went wrong", "# Chosen action", "Base node: blocked", "Attempt 3 of 5",
                 "# Answer", "# Rules", "# Hints", "\"decision_tree\"", "feed-small"});
  EXPECT_THAT(debug.user, Not(HasSubstr("LESSON")));
  const Prompt improve = BuildCodePrompt(SmallFacts(true), Context(CodePromptKind::kImprove));
  EXPECT_THAT(improve.user, Not(HasSubstr("# Chosen action")));
  EXPECT_THAT(improve.user, Not(HasSubstr("SIMD_DESCRIPTION")));
  EXPECT_THAT(improve.user, HasSubstr("Best program of this cycle"));
  const Prompt first = BuildCodePrompt(SmallFacts(true), Context(CodePromptKind::kActionFromSpec));
  ExpectInOrder(first.user, {"no base program", "# Chosen action", "# Rules"});
}

TEST_F(CodePromptTest, CudaHasItsOwnRules) {
  PromptFacts facts = SmallFacts();
  facts.language = v1::LANGUAGE_CUDA;
  facts.target_hardware = "NVIDIA H200 (sm_90a)";
  const std::string cuda = Whole(BuildCodePrompt(facts, Context(CodePromptKind::kActionFromSpec)));
  EXPECT_THAT(cuda, HasSubstr("cudaStream_t stream"));
  EXPECT_THAT(cuda, HasSubstr("kernel.cu"));
  EXPECT_THAT(cuda, HasSubstr("wgmma"));
  facts.target_hardware = "NVIDIA B200";
  EXPECT_THAT(Whole(BuildCodePrompt(facts, Context(CodePromptKind::kActionFromSpec))),
              HasSubstr("tcgen05"));
}

// The prompt offers exactly what the header has.
TEST_F(CodePromptTest, CudaPromptAndHeaderAgree) {
  const char* root = std::getenv("KSEARCH_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
  if (root == nullptr) GTEST_SKIP() << "KSEARCH_SOURCE_DIR is not set";
  std::string header;
  for (const auto& part :
       std::filesystem::directory_iterator(std::string(root) + "/gpu_worker/build/cuda/header")) {
    header += ReadFile(part.path().string(), 1 << 20).value_or("");
  }
  for (const bool paper : {false, true}) {
    const std::string rules = CudaText().Rules(v1::DEVICE_CLASS_CUDA, paper);
    const std::regex declaration(
        "(KS_DEVICE|__forceinline__|cudaError_t) ?[a-z0-9_]* ([a-z0-9_]+)\\(");
    int found = 0;
    for (std::sregex_iterator at(header.begin(), header.end(), declaration), end; at != end; ++at) {
      std::string name = (*at)[2];
      if (name == "wgmma_descriptor_raw") continue;
      name = std::regex_replace(name, std::regex("m64n[0-9]+k"), "m64nNk");
      EXPECT_THAT(rules, HasSubstr(name));
      ++found;
    }
    EXPECT_GT(found, 60);
  }
}

TEST_F(CodePromptTest, CompileErrorsAreBounded) {
  CodePromptContext context = Context(CodePromptKind::kDebug);
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_COMPILE_ERROR);
  for (int i = 0; i < 20; ++i) {
    v1::Diagnostic* diagnostic = result.mutable_build()->add_diagnostics();
    diagnostic->set_file("kernel.cpp");
    diagnostic->set_line(i + 1);
    diagnostic->set_severity("error");
    diagnostic->set_message("ERR" + std::to_string(i) + std::string(5000, 'x'));
  }
  result.mutable_build()->set_log_excerpt("LOG_EXCERPT");
  context.last_result = result;
  const std::string text = BuildCodePrompt(SmallFacts(), context).user;
  ExpectInOrder(text, {"did not compile", "kernel.cpp:1: error: ERR0",
                       "kernel.cpp:12: error: ERR11", "(8 more)"});
  EXPECT_THAT(text, Not(HasSubstr("ERR12")));
  EXPECT_THAT(text, Not(HasSubstr("LOG_EXCERPT")));
  EXPECT_LT(text.size(), 20000u);
}

}  // namespace
}  // namespace ksearch
