#include "coordinator/llm/model_server/landscape/landscape.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/llm/model_server/landscape/landscape_knowledge.h"
#include "coordinator/llm/model_server/landscape/landscape_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kHead[] = R"(
  task: "t"
  program { input: "x" output: "y" elements: "args->n" scale: 2 start_work: 1000 }
)";

constexpr char kSmall[] = R"(
  parameters { name: "tile" ordered: true start: "2"
               values { name: "1" factor: 2 } values { name: "2" factor: 1 }
               values { name: "4" factor: 0.5 } values { name: "8" factor: 0.8 } }
  parameters { name: "layout" values { name: "rows" } values { name: "blocks" factor: 1.5 } }
  rules { when { parameter: "layout" values: "blocks" } when { parameter: "tile" values: "4" values: "8" }
          factor: 0.25 }
)";

Landscape Small(const std::string& more = "") {
  return Landscape::Parse(absl::StrCat(kHead, kSmall, more), "small").value();
}

TEST(LandscapeTest, CostsAreRelativeToTheStart) {
  const Landscape small = Small();
  EXPECT_EQ(small.Write(small.start()), "tile=2 layout=rows");
  EXPECT_DOUBLE_EQ(small.Cost(small.start()), 1);
  EXPECT_DOUBLE_EQ(small.Cost({0, 0}), 2);
  EXPECT_DOUBLE_EQ(small.Cost({2, 1}), 0.5 * 1.5 * 0.25);
  EXPECT_DOUBLE_EQ(small.Cost({1, 1}), 1.5);
  EXPECT_EQ(small.Work({2, 0}), 500);
  EXPECT_DOUBLE_EQ(small.LeastCost().value(), 0.5 * 1.5 * 0.25);
}

TEST(LandscapeTest, ReadsWhatItWroteAndNothingElse) {
  const Landscape small = Small();
  for (int tile = 0; tile < 4; ++tile) {
    for (int layout = 0; layout < 2; ++layout) {
      const LandscapePoint point = {tile, layout};
      EXPECT_EQ(small.Read(small.Write(point)), point);
    }
  }
  EXPECT_EQ(small.Read("layout=blocks tile=8"), (LandscapePoint{3, 1}));
  for (const char* text : {"", "tile=2", "tile=2 layout=rows tile=2", "tile=3 layout=rows",
                           "tile=2 layout=rows color=red", "tile layout"}) {
    EXPECT_EQ(small.Read(text), std::nullopt) << text;
  }
}

TEST(LandscapeTest, FaultsNameTheirFields) {
  const auto faults = [](const std::string& text) {
    return std::string(Landscape::Parse(text, "l").status().message());
  };
  EXPECT_THAT(faults(""), AllOf(HasSubstr("l: task is missing"), HasSubstr("program.input"),
                                HasSubstr("program.start_work is 0, must be from 1 to 1e+09"),
                                HasSubstr("parameters is empty")));
  EXPECT_THAT(faults("speed: 1"), HasSubstr("l:1:"));
  const std::string head(kHead);
  EXPECT_THAT(faults(head + "parameters { name: 'a b' values { name: '1' } values { name: '1' } }"),
              AllOf(HasSubstr("parameters[0].name is \"a b\""),
                    HasSubstr("parameters[0].values[1].name \"1\" is given twice")));
  EXPECT_THAT(faults(head + "parameters { name: 'a' start: 'x' values { name: '1' factor: -2 } }"),
              AllOf(HasSubstr("parameters[0].values has 1 entries"),
                    HasSubstr("parameters[0].values[0].factor is -2"),
                    HasSubstr("parameters[0].start is \"x\"")));
  EXPECT_THAT(
      faults(absl::StrCat(kHead, kSmall, R"(
        rules { when { parameter: "tile" values: "3" } when { parameter: "color" } factor: 1 }
        rules { factor: 1 } failures { probability: 2 } noise: 5 delay { seconds: -1 }
        knowledge { skill: 7 changes: 0.5 }
      )")),
      AllOf(HasSubstr("rules[1].when[0].values: parameter tile has no value \"3\""),
            HasSubstr("rules[1].when[1].parameter is \"color\""),
            HasSubstr("rules[2].when is empty"), HasSubstr("failures[0].probability is 2"),
            HasSubstr("failures[0].kind must be"), HasSubstr("noise is 5"),
            HasSubstr("delay is -1s"), HasSubstr("knowledge.skill is 7, must be from 0 to 1"),
            HasSubstr("knowledge.changes is 0.5")));
  // Text that becomes part of a program is checked.
  EXPECT_THAT(faults("task: 't' program { input: 'x' output: 'y' elements: 'n; } int z[9' scale: 2 "
                     "start_work: 1 }"),
              HasSubstr("program.elements must be"));
}

TEST(LandscapeTest, TheShippedOnesHaveTheirShapes) {
  const std::string folder =
      absl::StrCat(std::getenv("KSEARCH_SOURCE_DIR"), "/configs/demo/landscapes/");
  const auto load = [&](const char* name) {
    return Landscape::Load(absl::StrCat(folder, name, ".landscape.textproto"));
  };
  // Whether the best program can be reached by changes of one step that each pay.
  const auto climbs = [](const Landscape& landscape) {
    const LandscapeKnowledge knowledge(landscape);
    LandscapePoint point = landscape.start();
    while (true) {
      LandscapePoint best = point;
      for (const LandscapeStep& step : knowledge.Steps(point)) {
        const LandscapePoint next = Changed(point, {step});
        if (landscape.Cost(next) < landscape.Cost(best)) best = next;
      }
      if (best == point) return 1 / landscape.Cost(point);
      point = best;
    }
  };
  const auto smooth = load("smooth");
  ASSERT_TRUE(smooth.ok()) << smooth.status();
  EXPECT_NEAR(climbs(*smooth) * smooth->LeastCost().value(), 1, 1e-9);
  const auto deceptive = load("deceptive");
  ASSERT_TRUE(deceptive.ok()) << deceptive.status();
  EXPECT_LT(climbs(*deceptive) * deceptive->LeastCost().value(), 0.5);
  const auto plateau = load("plateau");
  ASSERT_TRUE(plateau.ok()) << plateau.status();
  EXPECT_GT(climbs(*plateau), 5);
}

TEST(LandscapeProgramTest, ProgramsAreReadBackWithTheirDefects) {
  const Landscape small = Small();
  for (const auto defect :
       {v1::LandscapeFailure::KIND_UNSPECIFIED, v1::LandscapeFailure::COMPILE_ERROR,
        v1::LandscapeFailure::WRONG, v1::LandscapeFailure::CRASH}) {
    for (const char* remark : {"", "12ab"}) {
      const LandscapeCode code = {{3, 1}, defect, remark};
      const std::string text = RenderProgram(small, code);
      EXPECT_EQ(ReadProgram(small, text), code) << text;
      EXPECT_THAT(text, HasSubstr("kWork = 300;"));  // 1000 * 0.8 * 1.5 * 0.25
      EXPECT_THAT(text, HasSubstr("kScale = 2.0f;"));
    }
  }
  EXPECT_EQ(ReadProgram(small, "int main() {}"), std::nullopt);
  EXPECT_EQ(ReadProgram(small, "// choices: tile=99 layout=rows\n"), std::nullopt);
}

TEST(LandscapeKnowledgeTest, SkillIsHowFarBeliefsFollowTheTruth) {
  const Landscape expert = Small("knowledge { skill: 1 }");
  const LandscapeChange better = {{0, 2}};
  EXPECT_NEAR(LandscapeKnowledge(expert).Belief(expert.start(), better), std::log(2.0), 1e-12);
  const Landscape novice = Small("knowledge { skill: 0 wrongness: 1 }");
  const LandscapeKnowledge knowledge(novice);
  const double belief = knowledge.Belief(novice.start(), better);
  EXPECT_EQ(knowledge.Belief(novice.start(), better), belief);
  const Landscape other = Small("knowledge { skill: 0 wrongness: 1 seed: 5 }");
  EXPECT_NE(LandscapeKnowledge(other).Belief(other.start(), better), belief);
}

TEST(LandscapeKnowledgeTest, InsightIsHowFarInterplayIsForeseen) {
  const LandscapeChange both = {{0, 2}, {1, 1}};
  const double apart = std::log(2.0) - std::log(1.5);
  const double together = -std::log(0.5 * 1.5 * 0.25);
  for (const double insight : {0.0, 0.5, 1.0}) {
    const Landscape small = Small(absl::StrCat("knowledge { skill: 1 insight: ", insight, " }"));
    EXPECT_NEAR(LandscapeKnowledge(small).Belief(small.start(), both),
                apart + insight * (together - apart), 1e-12);
  }
}

TEST(LandscapeKnowledgeTest, OrderedParametersMoveByOne) {
  const Landscape small = Small();
  const LandscapeKnowledge knowledge(small);
  EXPECT_THAT(knowledge.Steps({0, 0}),
              testing::ElementsAre(LandscapeStep{0, 1}, LandscapeStep{1, 1}));
  EXPECT_THAT(knowledge.Steps({1, 1}),
              testing::ElementsAre(LandscapeStep{0, 0}, LandscapeStep{0, 2}, LandscapeStep{1, 0}));
}

// Changes are drawn with weights e^(focus * belief): here 2 : 1/2 : 1/1.5 with focus 1.
TEST(LandscapeKnowledgeTest, DrawsFollowBeliefs) {
  const Landscape small = Small("knowledge { skill: 1 focus: 1 }");
  const LandscapeKnowledge knowledge(small);
  Rng rng(7);
  std::map<LandscapeStep, int> drawn;
  constexpr int kDraws = 30000;
  for (int i = 0; i < kDraws; ++i) {
    ++drawn[knowledge.Draw(small.start(), 1, {}, {}, &rng)->at(0)];
  }
  const double sum = 2 + 0.5 + 1 / 1.5;
  EXPECT_NEAR(drawn[(LandscapeStep{0, 2})], kDraws * 2 / sum, 400);
  EXPECT_NEAR(drawn[(LandscapeStep{0, 0})], kDraws * 0.5 / sum, 400);
  EXPECT_NEAR(drawn[(LandscapeStep{1, 1})], kDraws / 1.5 / sum, 400);
  // Avoided points are never drawn; in the end nothing is left.
  const std::set<LandscapePoint> avoid = {{2, 0}, {1, 1}};
  EXPECT_EQ(knowledge.Draw(small.start(), 1, avoid, {}, &rng)->at(0), (LandscapeStep{0, 0}));
  EXPECT_EQ(knowledge.Draw(small.start(), 1, {{0, 0}, {2, 0}, {1, 1}}, {}, &rng), std::nullopt);
}

TEST(LandscapeKnowledgeTest, CountsHaveTheirMean) {
  Rng rng(3);
  for (const double mean : {1.0, 1.3, 3.0}) {
    double sum = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) sum += DrawCount(mean, &rng);
    EXPECT_NEAR(sum / kDraws, mean, 0.06);
  }
}

// ---- what a judge, a memory and a floor need

constexpr char kIntents[] = R"(
  parameters { name: "tile" ordered: true intent: INTENT_KIND_TILE
               bottleneck: BOTTLENECK_MEMORY_BANDWIDTH
               values { name: "1" } values { name: "2" factor: 0.5 } values { name: "4" factor: 0.4 } }
  parameters { name: "lanes" intent: INTENT_KIND_VECTORIZE bottleneck: BOTTLENECK_COMPUTE
               values { name: "1" } values { name: "8" factor: 0.8 } }
  parameters { name: "other" values { name: "a" } values { name: "b" factor: 0.9 } }
)";

Landscape WithIntents(const std::string& more) {
  return Landscape::Parse(absl::StrCat(kHead, kIntents, more), "intents").value();
}

TEST(LandscapeKnowledgeTest, AJudgeHasASkillOfItsOwn) {
  const Landscape world = WithIntents("knowledge { skill: 0 wrongness: 1 judge_skill: 1 }");
  LandscapeView judge;
  judge.judges = true;
  const LandscapeChange better = {{0, 1}};
  EXPECT_NEAR(LandscapeKnowledge(world, judge).Belief(world.start(), better), std::log(2.0), 1e-12);
  EXPECT_NE(LandscapeKnowledge(world).Belief(world.start(), better), std::log(2.0));
  // The default is the common value.
  const Landscape alike = WithIntents("knowledge { skill: 0.5 wrongness: 1 }");
  EXPECT_EQ(LandscapeKnowledge(alike, judge).Belief(alike.start(), better),
            LandscapeKnowledge(alike).Belief(alike.start(), better));
}

TEST(LandscapeKnowledgeTest, BeliefsMoveTowardWhatIsRememberedOfAnIntent) {
  const Landscape world = WithIntents("knowledge { skill: 1 heeds_memory: 0.5 }");
  LandscapeView view;
  view.priors[v1::INTENT_KIND_VECTORIZE] = {.log_gain = 2, .tried = 10};
  view.priors[v1::INTENT_KIND_UNSPECIFIED] = {.log_gain = 100, .tried = 1000};
  const LandscapeKnowledge taught(world, view);
  const LandscapeKnowledge untaught(world);
  // Half of 10 / (10 + 10) of the way.
  const double own = -std::log(0.8);
  EXPECT_NEAR(taught.Belief(world.start(), {{1, 1}}), own + 0.25 * (2 - own), 1e-12);
  // There are no memories about other intents, or about steps without one.
  for (const LandscapeChange& change : {LandscapeChange{{0, 1}}, LandscapeChange{{2, 1}}}) {
    EXPECT_EQ(taught.Belief(world.start(), change), untaught.Belief(world.start(), change));
  }
  EXPECT_NEAR(taught.Belief(world.start(), {{1, 1}, {2, 1}}) -
                  untaught.Belief(world.start(), {{1, 1}, {2, 1}}),
              0.25 * (2 - own), 1e-12);
  const Landscape deaf = WithIntents("knowledge { skill: 1 heeds_memory: 0 }");
  EXPECT_EQ(LandscapeKnowledge(deaf, view).Belief(deaf.start(), {{1, 1}}),
            LandscapeKnowledge(deaf).Belief(deaf.start(), {{1, 1}}));
}

TEST(LandscapeKnowledgeTest, OfOneBottleneckItsParametersAloneAreThoughtOf) {
  const Landscape world = WithIntents("");
  LandscapeView view;
  view.bottleneck = v1::BOTTLENECK_COMPUTE;
  EXPECT_THAT(LandscapeKnowledge(world, view).Steps(world.start()),
              testing::ElementsAre(LandscapeStep{1, 1}));
  view.bottleneck = v1::BOTTLENECK_REGISTERS;
  EXPECT_THAT(LandscapeKnowledge(world, view).Steps(world.start()), testing::IsEmpty());
  EXPECT_THAT(LandscapeKnowledge(world).Steps(world.start()), testing::SizeIs(3));
}

TEST(LandscapeTest, FaultsOfFloorsIntentsAndSkillsNameTheirFields) {
  const auto faults = [](const std::string& more) {
    return std::string(
        Landscape::Parse(absl::StrCat(kHead, kIntents, more), "l").status().message());
  };
  EXPECT_EQ(faults("floor: 0.288"), "") << "0.4 * 0.8 * 0.9 is the least";
  EXPECT_THAT(faults("floor: 0.3"), HasSubstr("l: floor is 0.3"));
  EXPECT_THAT(faults("floor: -1"), HasSubstr("floor is -1, must be from 0 to 1"));
  EXPECT_THAT(
      faults("knowledge { judge_skill: 1.5 heeds_memory: -1 }"),
      AllOf(HasSubstr("knowledge.judge_skill is 1.5"), HasSubstr("knowledge.heeds_memory is -1")));
  EXPECT_THAT(
      faults("parameters { name: 'z' intent: 99 bottleneck: 98 values { name: '1' } "
             "values { name: '2' } }"),
      AllOf(HasSubstr("parameters[3].intent is 99"), HasSubstr("parameters[3].bottleneck is 98")));
}

}  // namespace
}  // namespace ksearch
