// Prompts of preset paper stay the same, byte for byte; those of preset default may grow by at most
// a quarter over their size when real models first answered them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "coordinator/proposer/prompt.h"
#include "coordinator/tasks/directory_suite.h"
#include "tests/coordinator/proposer/prompt_fixture.h"

namespace ksearch {
namespace {

struct NamedPrompt {
  std::string name;
  std::string text;
};

// One prompt of every kind, on whatever task `facts` names.
std::vector<NamedPrompt> EveryPrompt(const PromptFacts& facts) {
  const v1::WorldModel model = SmallModel();
  std::vector<NamedPrompt> prompts;
  const std::vector<std::pair<std::string, CodePromptKind>> code_kinds = {
      {"spec", CodePromptKind::kActionFromSpec},
      {"base", CodePromptKind::kActionOnBase},
      {"debug", CodePromptKind::kDebug},
      {"improve", CodePromptKind::kImprove}};
  for (const auto& [name, kind] : code_kinds) {
    CodePromptContext context;
    context.kind = kind;
    context.node = *FindNode(model, "blocked_simd");
    context.world_model = &model;
    context.attempt = 2;
    if (kind != CodePromptKind::kActionFromSpec) context.base = Program("base-id", "// BASE\n");
    if (kind == CodePromptKind::kDebug) context.last_result = FailedResult();
    if (kind == CodePromptKind::kImprove) context.last_result = PassedResult();
    if (context.last_result.has_value()) context.current = Program("current-id", "// CURRENT\n");
    if (name == "debug") context.complaint = "COMPLAINT";
    prompts.push_back({name, Whole(BuildCodePrompt(facts, context))});
  }
  const std::vector<std::pair<std::string, WorldModelPromptKind>> tree_kinds = {
      {"init", WorldModelPromptKind::kInit},
      {"propose", WorldModelPromptKind::kPropose},
      {"refine", WorldModelPromptKind::kRefine},
      {"too_hard", WorldModelPromptKind::kTooHard}};
  for (const auto& [name, kind] : tree_kinds) {
    WorldModelPromptContext context;
    context.kind = kind;
    context.round = 4;
    context.requirement = "REQUIREMENT";
    if (kind != WorldModelPromptKind::kInit) {
      context.world_model = &model;
      context.code = Program("abc123", "// CODE\n");
    }
    if (kind == WorldModelPromptKind::kRefine) {
      context.node_id = "blocked";
      context.result = PassedResult();
      context.complaint = "COMPLAINT";
    }
    if (kind == WorldModelPromptKind::kTooHard) {
      context.node_id = "blocked_simd";
      context.result = FailedResult();
    }
    prompts.push_back({name, Whole(BuildWorldModelPrompt(facts, context))});
  }
  return prompts;
}

TEST(PromptGoldenTest, PaperIsByteForByteAsItWas) {
  const std::map<std::string, std::string> golden = {
      {"spec", "53ba248689434daa"},   {"base", "a18d8ef6b8930f0a"},
      {"debug", "6a9ad6807fc0be66"},  {"improve", "282f9e7dda6fc630"},
      {"init", "c4fd360874fbdbe2"},   {"propose", "624d1fd91922c9fc"},
      {"refine", "120eaafb71be562b"}, {"too_hard", "5c5c6ee49d1e4feb"}};
  for (const NamedPrompt& prompt : EveryPrompt(SmallFacts(/*paper=*/true))) {
    EXPECT_EQ(Sha256Hex(prompt.text).substr(0, 16), golden.at(prompt.name)) << prompt.name;
  }
}

TEST(PromptGoldenTest, DefaultGrowsByAtMostAQuarter) {
  const char* root = std::getenv("KSEARCH_SOURCE_DIR");
  if (root == nullptr) GTEST_SKIP() << "KSEARCH_SOURCE_DIR is not set";
  const auto suite = MakeDirectorySuite({absl::StrCat(root, "/configs/tasks")});
  ASSERT_TRUE(suite.ok()) << suite.status();
  // Bytes, from the first searches with real models.
  const std::map<std::string, size_t> sizes = {
      {"gqa_paged_decode/spec", 16998},   {"gqa_paged_decode/base", 17101},
      {"gqa_paged_decode/debug", 17656},  {"gqa_paged_decode/improve", 17261},
      {"gqa_paged_decode/init", 12019},   {"gqa_paged_decode/propose", 13528},
      {"gqa_paged_decode/refine", 14046}, {"gqa_paged_decode/too_hard", 14217},
      {"matmul_f32/spec", 7404},          {"matmul_f32/base", 7507},
      {"matmul_f32/debug", 8062},         {"matmul_f32/improve", 7667},
      {"matmul_f32/init", 6867},          {"matmul_f32/propose", 8376},
      {"matmul_f32/refine", 8894},        {"matmul_f32/too_hard", 9065}};
  for (const char* name : {"gqa_paged_decode", "matmul_f32"}) {
    const auto task = (*suite)->Load(name);
    ASSERT_TRUE(task.ok()) << task.status();
    PromptFacts facts;
    facts.task = *task;
    facts.language = task->references(0).language();
    facts.kernel_header = *KernelHeader(task->definition(), task->device());
    facts.target_hardware = "NVIDIA H200";
    for (const NamedPrompt& prompt : EveryPrompt(facts)) {
      const std::string key = absl::StrCat(name, "/", prompt.name);
      ASSERT_EQ(sizes.count(key), 1u) << key << " " << prompt.text.size();
      EXPECT_LE(static_cast<double>(prompt.text.size()), 1.25 * static_cast<double>(sizes.at(key)))
          << key;
    }
  }
}

}  // namespace
}  // namespace ksearch
