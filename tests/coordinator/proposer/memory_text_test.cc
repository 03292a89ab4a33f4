#include "coordinator/proposer/memory_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/proposer/note_prompt.h"
#include "tests/coordinator/proposer/prompt_fixture.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::MemoryPrior Prior(v1::IntentKind intent, bool same_op_type) {
  v1::MemoryPrior prior;
  prior.set_bottleneck(v1::BOTTLENECK_MEMORY_BANDWIDTH);
  prior.set_intent(intent);
  prior.set_same_op_type(same_op_type);
  prior.set_tried(14);
  prior.set_passed(11);
  prior.set_faster(9);
  prior.set_tasks(3);
  prior.set_median_speedup(1.314);
  prior.set_low_speedup(1.08);
  prior.set_high_speedup(1.62);
  return prior;
}

PromptFacts Facts() {
  PromptFacts facts = SmallFacts();
  facts.priors = {Prior(v1::INTENT_KIND_TILE, false), Prior(v1::INTENT_KIND_VECTORIZE, true)};
  return facts;
}

TEST(MemoryTextTest, ALineForEachPriorWithItsCounts) {
  const std::string text = MemoryText(Facts());
  EXPECT_THAT(text, HasSubstr("On the same kind of operation:\n"
                              "- vectorize, of a program limited by memory bandwidth: tried 14, "
                              "right 11, faster 9; the changed program's speed times 1.31 (median; "
                              "quartiles 1.08 and 1.62); on 3 tasks\n"
                              "On other operations:\n- tile"));
}

TEST(MemoryTextTest, ProgramsFromTheSpecificationAreToldApart) {
  PromptFacts facts = SmallFacts();
  v1::MemoryPrior prior = Prior(v1::INTENT_KIND_FUSE, true);
  prior.set_over_baseline(true);
  prior.set_bottleneck(v1::BOTTLENECK_UNSPECIFIED);
  prior.set_passed(0);
  prior.set_tasks(1);
  facts.priors = {prior};
  EXPECT_THAT(MemoryText(facts),
              HasSubstr("- fuse, in a new program: tried 14, right 0, faster 9; on 1 task\n"));
}

TEST(MemoryTextTest, NothingIsSaidWithoutMemoryAndInThePublishedPreset) {
  EXPECT_EQ(MemoryText(SmallFacts()), "");
  PromptFacts facts = Facts();
  facts.paper = true;
  EXPECT_EQ(MemoryText(facts), "");
}

TEST(MemoryTextTest, ItIsShortHoweverManyThereAre) {
  PromptFacts facts = SmallFacts();
  for (int i = 0; i < 500; ++i) facts.priors.push_back(Prior(v1::INTENT_KIND_TILE, i % 2 == 0));
  EXPECT_LT(MemoryText(facts).size(), 6000u);
}

TEST(MemoryTextTest, ValuesOutsideTheVocabularySayNothing) {
  PromptFacts facts = SmallFacts();
  facts.priors = {Prior(static_cast<v1::IntentKind>(77), true)};
  EXPECT_THAT(MemoryText(facts), HasSubstr("- other, "));
}

TEST(MemoryTextTest, WhoeverPlansIsToldAndWhoeverWritesProgramsIsNot) {
  constexpr char kHeading[] = "# What changes brought in earlier searches";
  const v1::WorldModel model = SmallModel();
  for (const auto kind : {WorldModelPromptKind::kInit, WorldModelPromptKind::kPropose,
                          WorldModelPromptKind::kRefine, WorldModelPromptKind::kTooHard}) {
    WorldModelPromptContext context;
    context.kind = kind;
    if (kind != WorldModelPromptKind::kInit) context.world_model = &model;
    EXPECT_THAT(BuildWorldModelPrompt(Facts(), context).user, HasSubstr(kHeading));
    EXPECT_THAT(BuildWorldModelPrompt(SmallFacts(), context).user, Not(HasSubstr(kHeading)));
  }
  EXPECT_THAT(BuildNotePrompt(Facts(), {}).user, HasSubstr(kHeading));
  EXPECT_THAT(BuildCodePrompt(Facts(), {}).user, Not(HasSubstr(kHeading)));
}

}  // namespace
}  // namespace ksearch
