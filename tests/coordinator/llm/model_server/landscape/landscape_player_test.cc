#include "coordinator/llm/model_server/landscape/landscape_player.h"

#include <map>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/llm/model_server/chat_endpoint.h"
#include "coordinator/llm/model_server/landscape/landscape_program.h"
#include "coordinator/llm/model_server/landscape/landscape_replies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr char kWorld[] = R"(
  model: "played"
  task: "t"
  program { input: "x" output: "y" elements: "args->n" scale: 2 start_work: 1000 }
  parameters { name: "tile" ordered: true
               values { name: "1" } values { name: "2" factor: 0.7 } values { name: "4" factor: 0.6 } }
  parameters { name: "layout" values { name: "rows" } values { name: "blocks" factor: 0.8 } }
  parameters { name: "unroll" ordered: true
               values { name: "1" } values { name: "2" factor: 0.9 } values { name: "4" factor: 0.8 } }
)";
constexpr char kCodeRules[] =
    "Answer with each file in a block:\n<file path=\"kernel.cpp\">\n</file>\n";
constexpr char kEditRules[] = "{\"ops\": [{\"op\": \"insert_node\"}]}";
constexpr char kTreeRules[] = "{\n  \"decision_tree\": {\n \"nodes\": []}}";

Landscape World(const std::string& more = "") {
  return Landscape::Parse(absl::StrCat(kWorld, more), "world").value();
}

std::string Shown(const Landscape& world, const LandscapeCode& code) {
  return absl::StrCat("<file path=\"kernel.cpp\">\n", RenderProgram(world, code), "</file>\n");
}

// The program in a reply; fails the test if there is none.
LandscapeCode CodeIn(const Landscape& world, const std::string& reply) {
  const auto code = ReadProgram(world, reply);
  EXPECT_TRUE(code.has_value()) << reply;
  return code.value_or(LandscapeCode{world.start(), {}, {}});
}

int Distance(const LandscapePoint& a, const LandscapePoint& b) {
  int distance = 0;
  for (size_t i = 0; i < a.size(); ++i) distance += a[i] != b[i];
  return distance;
}

TEST(LandscapePlayerTest, TheSameCallGetsTheSameReplyAndOthersDiffer) {
  const LandscapePlayer player(World());
  const auto ask = [&](const std::string& call) {
    return player.Answer({call, kCodeRules, "# What to do now\nWrite it.\n"}).text;
  };
  EXPECT_EQ(ask("run/1"), ask("run/1"));
  EXPECT_NE(ask("run/1"), ask("run/2"));
}

TEST(LandscapePlayerTest, APlanIsCarriedOutOnTheProgramThatIsShown) {
  const Landscape world = World();
  const LandscapePlayer player(World());
  const std::string prompt = absl::StrCat(
      "# Base program\n", Shown(world, {{1, 0, 0}, {}, ""}),
      "# Chosen action\nNode: n\nTitle: Make it layout=blocks unroll=2\nDecision: Which?\n",
      "# What to do now\nApply the action.\n");
  for (int i = 0; i < 20; ++i) {
    const std::string reply = player.Answer({absl::StrCat(i), kCodeRules, prompt}).text;
    EXPECT_EQ(CodeIn(world, reply).point, (LandscapePoint{1, 1, 1}));
    EXPECT_THAT(reply, HasSubstr("Changed: layout=blocks unroll=2"));
  }
}

TEST(LandscapePlayerTest, WithoutAPlanAFewParametersOfTheSubjectChange) {
  const Landscape world = World();
  const LandscapePlayer player(World("knowledge { changes: 1 borrows: 0 }"));
  const std::string prompt = absl::StrCat(
      "# Other programs\n", Shown(world, {{2, 1, 2}, {}, ""}), "# Program to start from\n",
      Shown(world, {{0, 0, 0}, {}, ""}), "# What to do now\nMake it faster.\n");
  for (int i = 0; i < 50; ++i) {
    const LandscapeCode code =
        CodeIn(world, player.Answer({absl::StrCat(i), kCodeRules, prompt}).text);
    EXPECT_EQ(Distance(code.point, {0, 0, 0}), 1);
  }
  // If it may borrow, it always borrows from the other program.
  const LandscapePlayer borrower(World("knowledge { borrows: 1 }"));
  std::map<int, int> distances;
  for (int i = 0; i < 50; ++i) {
    const LandscapeCode code =
        CodeIn(world, borrower.Answer({absl::StrCat(i), kCodeRules, prompt}).text);
    for (int p = 0; p < 3; ++p)
      EXPECT_TRUE(code.point[p] == 0 || code.point[p] == (p == 1 ? 1 : 2));
    ++distances[Distance(code.point, {0, 0, 0})];
  }
  EXPECT_EQ(distances.size(), 3);
  EXPECT_EQ(distances.count(0), 0);
}

TEST(LandscapePlayerTest, ABrokenProgramIsRepairedAsOftenAsItIsSaid) {
  const Landscape world = World();
  const LandscapePlayer player(World("knowledge { repairs: 0.5 }"));
  const std::string prompt = absl::StrCat(
      "# Program that does not work\n", Shown(world, {{1, 1, 1}, v1::LandscapeFailure::WRONG, ""}),
      "# What went wrong\n");
  int repaired = 0;
  for (int i = 0; i < 400; ++i) {
    const LandscapeCode code =
        CodeIn(world, player.Answer({absl::StrCat(i), kCodeRules, prompt}).text);
    EXPECT_EQ(code.point, (LandscapePoint{1, 1, 1}));
    repaired += code.defect == v1::LandscapeFailure::KIND_UNSPECIFIED;
  }
  EXPECT_NEAR(repaired, 200, 40);
}

TEST(LandscapePlayerTest, FailuresAndLiesComeAsOftenAsTheyAreDescribed) {
  const Landscape world = World();
  const LandscapePlayer player(World(R"(
    failures { when { parameter: "layout" values: "blocks" } probability: 1 kind: CRASH }
    failures { probability: 0.25 kind: UNUSABLE } failures { probability: 0.3333 kind: LIE }
  )"));
  const std::string prompt = absl::StrCat("# Program to start from\n",
                                          Shown(world, {{0, 0, 0}, {}, ""}), "# What to do now\n");
  int crashes = 0, blocks = 0, unusable = 0, lies = 0, rest = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string reply = player.Answer({absl::StrCat(i), kCodeRules, prompt}).text;
    const auto code = ReadProgram(world, reply);
    if (!code.has_value()) {
      ++unusable;
      EXPECT_THAT(reply, Not(HasSubstr("<file")));
      continue;
    }
    blocks += code->point[1] == 1;
    crashes += code->defect == v1::LandscapeFailure::CRASH;
    if (code->point == LandscapePoint{0, 0, 0}) {
      ++lies;  // it says what it has not done
      EXPECT_THAT(reply, HasSubstr("Changed: "));
    }
    ++rest;
  }
  EXPECT_EQ(crashes, blocks);
  EXPECT_GT(blocks, 100);
  const int others = 1000 - blocks;
  EXPECT_NEAR(unusable, others * 0.25, 60);
  EXPECT_NEAR(lies, others * 0.25, 60);  // a third of three quarters
}

TEST(LandscapePlayerTest, TheFirstTreeHasOpenActionsThatSayWhatTheyChange) {
  const Landscape world = World();
  const LandscapePlayer player(World());
  const Json tree =
      Json::parse(player
                      .Answer({"1", kTreeRules,
                               "# What to do now\nWrite it, at most 4 nodes beside the root.\n"})
                      .text);
  const Json& nodes = tree["decision_tree"]["nodes"];
  ASSERT_GE(nodes.size(), 4);
  EXPECT_LE(nodes.size(), 5);
  for (size_t i = 1; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i]["parent_id"], "root");
    const LandscapeChange change =
        ReadChange(world, nodes[i]["action"]["title"].get<std::string>());
    EXPECT_EQ(change.size(), 1);
    EXPECT_GT(nodes[i]["action"]["score_0_to_1"].get<double>(), 0);
  }
}

TEST(LandscapePlayerTest, ASolvedNodeGetsChildrenFromItsOwnProgram) {
  const Landscape world = World();
  const LandscapePlayer player(World());
  const std::string prompt = absl::StrCat(
      "# World model now\nTree:\n- root [root]\n    notes: CURRENT: tile=1 layout=rows unroll=1;\n"
      "  - tile_2 [SOLVED 1.429x, 350.00 us, candidate ab] Make it tile=2 (Which? -> tile=2) "
      "<== active\n"
      "  - layout_blocks [open, score 0.60, difficulty 2] Make it layout=blocks (Which? -> "
      "layout=blocks)\n"
      "# Program\n",
      Shown(world, {{1, 0, 0}, {}, ""}),
      "# What to do now\nA cycle of attempts on node tile_2 ended with a program that passed; add "
      "at "
      "most 3 nodes.\n");
  const std::string reply = player.Answer({"1", kEditRules, prompt}).text;
  const Json ops = Json::parse(reply)["ops"];
  int inserted = 0;
  bool rescored = false;
  for (const Json& op : ops) {
    if (op["op"] == "insert_node") {
      ++inserted;
      EXPECT_EQ(op["parent_id"], "tile_2");
      const LandscapeChange change = ReadChange(world, op["node"]["choice"].get<std::string>());
      ASSERT_EQ(change.size(), 1) << reply;
      EXPECT_NE(Changed({1, 0, 0}, change), (LandscapePoint{1, 0, 0}));
    } else if (op["node_id"] == "tile_2") {
      EXPECT_EQ(op["patch"]["notes"], "CURRENT: tile=2 layout=rows unroll=1;");
    } else {
      rescored = rescored || op["node_id"] == "layout_blocks";
    }
  }
  EXPECT_EQ(inserted, 2);
  EXPECT_TRUE(rescored);
}

TEST(LandscapePlayerTest, AnythingElseIsAnsweredByAListOfChangesToTheFirstProgram) {
  const Landscape world = World();
  const LandscapePlayer player(World());
  const std::string prompt = absl::StrCat("# Program 1\n", Shown(world, {{1, 1, 1}, {}, ""}),
                                          "# What to do now\nList what to try.\n");
  const std::string reply = player.Answer({"1", "Answer with a list.", prompt}).text;
  EXPECT_THAT(reply, testing::StartsWith("- Make it "));
  EXPECT_THAT(reply, Not(HasSubstr("<file")));
  const LandscapeChange change = ReadChange(world, reply.substr(0, reply.find('\n')));
  EXPECT_NE(Changed({1, 1, 1}, change), (LandscapePoint{1, 1, 1})) << reply;
}

TEST(LandscapePlayerTest, AJudgeNamesOneChangeWhichTheNextProgramMakes) {
  const Landscape world = World();
  const LandscapePlayer player(World());
  const std::string program = Shown(world, {{1, 0, 0}, {}, ""});
  const std::string verdict =
      player
          .Answer({"1", "Answer with three lines:\nBOTTLENECK: one of\nMETHOD: one of\nPLAN: words",
                   absl::StrCat("# Program\n", program)})
          .text;
  EXPECT_THAT(verdict, testing::StartsWith("BOTTLENECK: instructions\nMETHOD: tune\nPLAN: Make"));
  const LandscapeChange change = ReadChange(world, verdict);
  EXPECT_EQ(change.size(), 1u) << verdict;
  const std::string reply = player
                                .Answer({"2", kCodeRules,
                                         absl::StrCat("# Program to start from\n", program,
                                                      "# Verdict of the judge\n", verdict)})
                                .text;
  EXPECT_EQ(CodeIn(world, reply).point, Changed({1, 0, 0}, change));
}

// Parameters with their own intent and bottleneck, and a judge that knows them.
constexpr char kTaught[] = R"(
  model: "played"
  task: "t"
  program { input: "x" output: "y" elements: "args->n" scale: 2 start_work: 1000 }
  parameters { name: "tile" intent: INTENT_KIND_TILE bottleneck: BOTTLENECK_MEMORY_BANDWIDTH
               meaning: "size of a tile" values { name: "1" } values { name: "2" factor: 0.01 } }
  parameters { name: "lanes" intent: INTENT_KIND_VECTORIZE bottleneck: BOTTLENECK_COMPUTE
               values { name: "1" } values { name: "8" factor: 1.5 } }
  parameters { name: "unroll" intent: INTENT_KIND_TILE bottleneck: BOTTLENECK_MEMORY_BANDWIDTH
               values { name: "1" } values { name: "4" factor: 1.5 } }
  knowledge { skill: 0 judge_skill: 1 focus: 2 changes: 1 borrows: 0 }
)";

TEST(LandscapePlayerTest, AJudgeWhoKnowsNamesTheBottleneckAndNotTheChange) {
  const Landscape world = Landscape::Parse(kTaught, "taught").value();
  const LandscapePlayer player(Landscape::Parse(kTaught, "taught").value());
  const std::string program = Shown(world, {{0, 0, 0}, {}, ""});
  EXPECT_EQ(
      player
          .Answer({"1", "Answer with three lines:\nBOTTLENECK: one of\nMETHOD: one of\nPLAN: w",
                   absl::StrCat("# Program\n", program)})
          .text,
      "BOTTLENECK: memory bandwidth\nMETHOD: tile\nPLAN: Change the size of a tile.\n");
  // The model then changes what has this bottleneck, and nothing else.
  int tiles = 0, unrolls = 0;
  for (int call = 0; call < 200; ++call) {
    const std::string reply =
        player
            .Answer(
                {absl::StrCat(call), kCodeRules,
                 absl::StrCat("# Program to start from\n", program, "# Verdict of the judge\n",
                              "A judge names one bottleneck: memory bandwidth. Method: tile.\n")})
            .text;
    const LandscapePoint point = CodeIn(world, reply).point;
    EXPECT_EQ(point[1], 0) << reply;
    EXPECT_EQ(Distance(point, {0, 0, 0}), 1) << reply;
    tiles += point[0];
    unrolls += point[2];
  }
  EXPECT_GT(tiles, 0);
  EXPECT_EQ(tiles + unrolls, 200);
}

TEST(LandscapePlayerTest, ChangesFollowWhatAPromptRemembersOfTheirIntents) {
  const std::string world_text = absl::StrReplaceAll(
      kTaught, {{"skill: 0 judge_skill: 1 focus: 2", "skill: 1 focus: 1 heeds_memory: 1"}});
  const Landscape world = Landscape::Parse(world_text, "w").value();
  const LandscapePlayer player(Landscape::Parse(world_text, "w").value());
  const auto lanes = [&](const std::string& memory) {
    int changed = 0;
    for (int call = 0; call < 300; ++call) {
      const std::string prompt =
          absl::StrCat(memory, "# Program to start from\n", Shown(world, {{0, 0, 0}, {}, ""}));
      changed +=
          CodeIn(world, player.Answer({absl::StrCat(call), kCodeRules, prompt}).text).point[1];
    }
    return changed;
  };
  // The prior favors the tile a hundredfold; the memory says that it never paid, and lanes did.
  EXPECT_LT(lanes(""), 30);
  EXPECT_GT(
      lanes("# What changes brought in earlier searches\n"
            "- tile, of a program limited by memory bandwidth: tried 900, right 900, faster 0; "
            "the changed program's speed times 0.10 (median; quartiles 0.1 and 0.1)\n"
            "- vectorize: tried 900, right 900, faster 900; the changed program's speed times "
            "3.00 (median; quartiles 2 and 4)\n"),
      200);
}

TEST(LandscapePlayerTest, RepliesSayWhatTheirChangesAreFor) {
  const Landscape world = Landscape::Parse(kTaught, "taught").value();
  const LandscapePlayer player(Landscape::Parse(kTaught, "taught").value());
  const std::string reply =
      player
          .Answer(
              {"1", kCodeRules,
               absl::StrCat("# Program to start from\n", Shown(world, {{0, 0, 0}, {}, ""}),
                            "# Direction\n<data name=\"direction\">\nMake it lanes=8.\n</data>\n")})
          .text;
  EXPECT_THAT(reply, HasSubstr("Changed: lanes=8 (vectorize)."));
}

TEST(LandscapePlayerTest, ADirectionIsAPlan) {
  const Landscape world = World();
  const LandscapePlayer player(World());
  const std::string prompt =
      absl::StrCat("# Other program 1\n", Shown(world, {{2, 0, 2}, {}, ""}),
                   "# Program to start from\n", Shown(world, {{1, 0, 0}, {}, ""}),
                   "# Direction\n<data name=\"direction\">\nMake it layout=blocks.\n</data>\n");
  const std::string reply = player.Answer({"1", kCodeRules, prompt}).text;
  EXPECT_EQ(CodeIn(world, reply).point, (LandscapePoint{1, 1, 0}));
}

TEST(LandscapePlayerTest, DelaysLieWithinTheirSpread) {
  const LandscapePlayer player(World("delay { seconds: 1 } delay_spread { seconds: 2 }"));
  absl::Duration least = absl::Hours(1), most;
  for (int i = 0; i < 100; ++i) {
    const absl::Duration delay = player.Answer({absl::StrCat(i), kCodeRules, ""}).delay;
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, absl::Seconds(1));
  EXPECT_LE(most, absl::Seconds(3));
  EXPECT_GT(most - least, absl::Seconds(1));
}

TEST(LandscapeRepliesTest, CallsAreToldApartByTheirHeader) {
  ChatEndpoint endpoint(std::make_unique<LandscapeReplies>(World(), std::nullopt));
  const auto ask = [&](const std::string& call) {
    const Json body = {{"model", "played"},
                       {"messages", Json::array({{{"role", "system"}, {"content", kCodeRules}},
                                                 {{"role", "user"}, {"content", "Write it."}}})}};
    const EndpointResponse response = endpoint.Answer({.method = "POST",
                                                       .target = "/v1/chat/completions",
                                                       .headers = {{"x-ksearch-call", call}},
                                                       .body = body.dump()});
    EXPECT_EQ(response.status, 200);
    return response.body;
  };
  EXPECT_EQ(ask("a/1"), ask("a/1"));
  EXPECT_NE(ask("a/1"), ask("a/2"));
  EXPECT_THAT(ask("a/1"), HasSubstr("\"model\":\"played\""));
}

}  // namespace
}  // namespace ksearch
