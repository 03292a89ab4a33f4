#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/textproto.h"
#include "coordinator/proposer/prompt.h"
#include "coordinator/proposer/reply_parser.h"
#include "tests/coordinator/proposer/prompt_fixture.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::EditScript Parsed(const std::string& reply, bool clamp = false) {
  const absl::StatusOr<v1::EditScript> script = ParseEditReply(reply, {clamp});
  EXPECT_TRUE(script.ok()) << script.status() << "\nfor: " << reply.substr(0, 2000);
  return script.value_or(v1::EditScript());
}

std::string Fault(const std::string& reply, bool clamp = false) {
  const absl::StatusOr<v1::EditScript> script = ParseEditReply(reply, {clamp});
  EXPECT_FALSE(script.ok()) << "accepted: " << reply.substr(0, 200);
  EXPECT_TRUE(script.ok() || absl::IsInvalidArgument(script.status()));
  return std::string(script.status().message());
}

std::string Ops(const std::string& ops) { return "{\"ops\": [" + ops + "]}"; }

constexpr char kInsert[] =
    R"({"op": "insert_node", "parent_id": "a", "node": {"node_id": "b", "decision": "d",
        "choice": "c", "action": {"title": "t", "score_0_to_1": 0.5}}})";

TEST(EditReplyTest, EveryOperation) {
  const v1::EditScript script = Parsed(R"(Some thoughts first {not json}.
```json
{
  "active_leaf_id": "b",
  "ops": [
    {"op": "update_node", "node_id": "a",
     "patch": {"decision": "D", "choice": "C", "overall_rating_0_to_10": 7.5, "confidence_0_to_1": 1,
               "notes": "N", "last_updated_round": 9,
               "impacts": {"memory_bandwidth": {"rating_0_to_10": 8, "risk": "low", "notes": "m"},
                           "register_pressure": {"rating_0_to_10": 0},
                           "compute_intensity_and_hw_fit": {"rating_0_to_10": 3, "hw_notes": "h"}},
               "action": {"title": "T", "description": "De", "rationale": "R",
                          "difficulty_1_to_5": 4, "score_0_to_1": 0.25,
                          "expected_vs_baseline_factor": 2.5}}},
    {"op": "insert_node", "parent_id": "a", "parent_solution_id": "abc123",
     "node": {"node_id": "b", "decision": "d", "choice": "c", "overall_rating_0_to_10": 6,
              "action": {"title": "t"}}},
    {"op": "split_node", "node_id": "a", "parent_patch": {"notes": "split"},
     "children": [{"node_id": "c1", "decision": "x", "choice": "1"},
                  {"node": {"node_id": "c2", "decision": "x", "choice": "2"}}]},
    {"op": "delete_node", "node_id": "z", "reason": "slow"}
  ]
}
```
Done.)");
  v1::EditScript expected;
  ASSERT_TRUE(ParseTextproto(R"pb(
                               active_node_id: "b"
                               ops {
                                 update {
                                   node_id: "a"
                                   patch {
                                     decision: "D"
                                     choice: "C"
                                     overall_rating: 7.5
                                     confidence: 1
                                     notes: "N"
                                     title: "T"
                                     description: "De"
                                     rationale: "R"
                                     difficulty: 4
                                     score: 0.25
                                     expected_vs_baseline: 2.5
                                     memory_bandwidth { rating: 8 risk: "low" notes: "m" }
                                     register_pressure {}
                                     compute_intensity { rating: 3 hardware_notes: "h" }
                                   }
                                 }
                               }
                               ops {
                                 insert {
                                   parent_id: "a"
                                   parent_candidate_id: "abc123"
                                   node_id: "b"
                                   node {
                                     decision: "d"
                                     choice: "c"
                                     overall_rating: 6
                                     title: "t"
                                     difficulty: 3
                                     score: 0.6
                                   }
                                 }
                               }
                               ops {
                                 split {
                                   node_id: "a"
                                   parent_patch { notes: "split" }
                                   children {
                                     node_id: "c1"
                                     node { decision: "x" choice: "1" }
                                   }
                                   children {
                                     node_id: "c2"
                                     node { decision: "x" choice: "2" }
                                   }
                                 }
                               }
                               ops { remove { node_id: "z" reason: "slow" } }
                             )pb",
                             "expected", &expected)
                  .ok());
  EXPECT_EQ(ToTextproto(script), ToTextproto(expected));
}

TEST(EditReplyTest, InitialModelBecomesInsertsParentsFirst) {
  const v1::EditScript script = Parsed(R"({
    "kernel_summary": "S", "open_questions": ["q1", "", "q2"],
    "decision_tree": {"root_id": "start", "active_leaf_id": "start", "nodes": [
      {"node_id": "child", "parent_id": "top", "decision": "d", "choice": "c"},
      {"node_id": "start", "parent_id": null, "node_type": "root", "decision": null, "notes": "facts"},
      {"node_id": "top", "parent_id": "start", "decision": "d", "choice": "c", "solution_ref": null,
       "action": {"title": "t", "score_0_to_1": 0.9, "difficulty_1_to_5": 1}},
      {"node_id": "other", "parent_id": null, "decision": "e", "choice": "f"}]}})");
  v1::EditScript expected;
  ASSERT_TRUE(
      ParseTextproto(R"pb(
                       active_node_id: "root"
                       kernel_summary: "S"
                       open_questions: "q1"
                       open_questions: "q2"
                       ops {
                         insert {
                           parent_id: "root"
                           node_id: "root"
                           node { notes: "facts" }
                         }
                       }
                       ops {
                         insert {
                           parent_id: "root"
                           node_id: "top"
                           node { decision: "d" choice: "c" title: "t" score: 0.9 difficulty: 1 }
                         }
                       }
                       ops {
                         insert {
                           parent_id: "root"
                           node_id: "other"
                           node { decision: "e" choice: "f" }
                         }
                       }
                       ops {
                         insert {
                           parent_id: "top"
                           node_id: "child"
                           node { decision: "d" choice: "c" }
                         }
                       }
                     )pb",
                     "expected", &expected)
          .ok());
  EXPECT_EQ(ToTextproto(script), ToTextproto(expected));
}

TEST(EditReplyTest, BareNodesAreAnInitialModelToo) {
  EXPECT_EQ(Parsed(R"({"nodes": [{"node_id": "a", "decision": "d", "choice": "c"}]})").ops_size(),
            1);
}

TEST(EditReplyTest, TheLastObjectWithTheKeysCounts) {
  const v1::EditScript script =
      Parsed(R"(Draft: {"ops": [{"op": "delete_node", "node_id": "draft"}]} Final:
                {"ops": [{"op": "delete_node", "node_id": "final"}]} and {"note": "bye"} })");
  ASSERT_EQ(script.ops_size(), 1);
  EXPECT_EQ(script.ops(0).remove().node_id(), "final");
}

TEST(EditReplyTest, FoundInProseWithStrayBracesAndQuotes) {
  for (const std::string& reply :
       {"if (x) { it's \"bad\n" + Ops(kInsert), "{{{ " + Ops(kInsert) + " } \"",
        "{\"answer\": " + Ops(kInsert) + "}", "\xEF\xBB\xBF" + Ops(kInsert),
        "<think>{\"ops\": broken}</think>" + Ops(kInsert)}) {
    EXPECT_EQ(Parsed(reply).ops_size(), 1) << reply;
  }
}

TEST(EditReplyTest, LastOfEqualKeysWins) {
  EXPECT_EQ(Parsed(R"({"ops": 3, "ops": [{"op": "delete_node", "node_id": "a", "node_id": "b"}]})")
                .ops(0)
                .remove()
                .node_id(),
            "b");
}

TEST(EditReplyTest, EmptyScriptIsAnAnswer) { EXPECT_EQ(Parsed(Ops("")).ops_size(), 0); }

TEST(EditReplyTest, FaultsNameTheirField) {
  const auto patch = [](const std::string& fields) {
    return Ops("{\"op\": \"update_node\", \"node_id\": \"a\", \"patch\": {" + fields + "}}");
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "no JSON object"},
      {"just words", "no JSON object"},
      {"{\"a\": 1}", "has the key \"ops\""},
      {"{\"ops\": [{\"op\": \"delete_node\"", "never closed"},
      {"{\"ops\": [1,]}", "malformed"},
      {"{\"ops\": [NaN]}", "malformed"},
      {patch("\"overall_rating_0_to_10\": 1e999"), "malformed"},
      {"{\"ops\": \"\xFF\"}", "malformed"},
      {"{\"ops\": {}}", "ops: must be an array"},
      {"{\"ops\": null, \"nodes\": {}}", "nodes: must be an array"},
      {Ops("1"), "ops[0]: must be an object"},
      {Ops("{}"), "ops[0].op: must be update_node, insert_node, split_node or delete_node"},
      {Ops("{\"op\": \"replace_tree\"}"), "not \"replace_tree\""},
      {Ops("{\"op\": \"delete_node\"}"), "ops[0].node_id: is required"},
      {Ops("{\"op\": \"delete_node\", \"node_id\": \"a b\"}"), "ops[0].node_id: must be 1 to 64"},
      {Ops("{\"op\": \"update_node\", \"node_id\": \"a\"}"), "ops[0].patch: must be an object"},
      {patch(""), "ops[0].patch: has no field that can be changed"},
      {patch("\"confidence_0_to_1\": 1.5"),
       "ops[0].patch.confidence_0_to_1: must be a number in [0, 1], not 1.5"},
      {patch("\"overall_rating_0_to_10\": \"7\""), "must be a number in [0, 10], not \"7\""},
      {patch("\"overall_rating_0_to_10\": true"), "not true"},
      {patch("\"notes\": [1]"), "ops[0].patch.notes: must be a string, not an array"},
      {patch("\"notes\": \"" + std::string(9000, 'x') + "\""), "has 9000 bytes; at most 8000"},
      {patch("\"action\": {\"difficulty_1_to_5\": 2.5}"), "whole number in [1, 5]"},
      {patch("\"action\": {\"difficulty_1_to_5\": 0}"), "must be a number in [1, 5], not 0"},
      {patch("\"action\": {\"expected_vs_baseline_factor\": -1}"), "not -1"},
      {patch("\"action\": 5"), "ops[0].patch.action: must be an object"},
      {patch("\"impacts\": {\"memory_bandwidth\": {}}"),
       "ops[0].patch.impacts.memory_bandwidth.rating_0_to_10: is required"},
      {patch("\"notes\": \"n\", \"solution_ref\": {\"solution_id\": \"forged\"}"),
       "ops[0].patch.solution_ref: is not writable"},
      {Ops("{\"op\": \"insert_node\", \"parent_id\": \"a\"}"), "ops[0].node: must be an object"},
      {Ops("{\"op\": \"insert_node\", \"node\": {\"decision\": \"d\"}}"),
       "ops[0].parent_id: is required"},
      {Ops("{\"op\": \"insert_node\", \"parent_id\": \"a\", \"node\": {\"notes\": \"n\"}}"),
       "ops[0].node.action.title: is required"},
      {Ops("{\"op\": \"insert_node\", \"parent_id\": \"a\", \"node\": {\"action\": {\"title\": "
           "\"t\"}}}"),
       "ops[0].node.action.score_0_to_1: is required"},
      {Ops("{\"op\": \"split_node\", \"node_id\": \"a\", \"children\": []}"),
       "ops[0].children: must be an array of at least one node"},
      {Ops("{\"op\": \"split_node\", \"node_id\": \"a\", \"children\": [{\"decision\": \"d\", "
           "\"overall_rating_0_to_10\": 11}]}"),
       "ops[0].children[0].overall_rating_0_to_10"},
      {"{\"nodes\": [{\"node_id\": \"a\", \"decision\": \"d\"}, {\"node_id\": \"a\", \"decision\": "
       "\"d\"}]}",
       "nodes[1].node_id: \"a\" is used twice"},
      {"{\"nodes\": [{\"node_id\": \"a\", \"parent_id\": \"x\", \"decision\": \"d\"}]}",
       "nodes[0].parent_id: there is no node \"x\""},
      {"{\"nodes\": [{\"node_id\": \"a\", \"parent_id\": \"b\", \"decision\": \"d\"}, "
       "{\"node_id\": "
       "\"b\", \"parent_id\": \"a\", \"decision\": \"d\"}]}",
       "nodes[0].parent_id: its ancestors form a loop"},
      {"{\"decision_tree\": {}}", "decision_tree.nodes: is required"},
      {"{\"ops\": [], \"open_questions\": [1]}", "open_questions[0]: must be a string"},
      {"{\"ops\": " + std::string(40, '[') + std::string(40, ']') + "}", "nests deeper"},
      {std::string(kMaxReplyBytes + 1, ' '), "at most"},
  };
  for (const auto& [reply, fault] : cases) {
    EXPECT_THAT(Fault(reply), HasSubstr(fault)) << reply.substr(0, 200);
  }
}

TEST(EditReplyTest, AllFaultsAreListedUpToALimit) {
  EXPECT_EQ(Fault(Ops("{\"op\": \"x\"}, {\"op\": \"delete_node\"}")),
            "ops[0].op: must be update_node, insert_node, split_node or delete_node, not \"x\"\n"
            "ops[1].node_id: is required");
  std::string many = "{}";
  for (int i = 1; i < 60; ++i) many += ", {}";
  const std::string fault = Fault(Ops(many));
  EXPECT_EQ(std::count(fault.begin(), fault.end(), '\n'), 39);
  EXPECT_THAT(fault, HasSubstr("... and 21 more faults"));
  for (int i = 0; i < 10; ++i) many += ", {}";
  EXPECT_THAT(Fault(Ops(many)), HasSubstr("has 70 operations; at most 64"));
}

TEST(EditReplyTest, FaultsStayShortAndClean) {
  const std::string fault =
      Fault(Ops("{\"op\": \"" + std::string(5000, 'x') + "\\u001b\\u0000\"}"));
  EXPECT_LT(fault.size(), 300u);
  EXPECT_THAT(fault, Not(HasSubstr("\x1b")));
}

TEST(EditReplyTest, ClampingDoesWhatThePublishedSystemDoes) {
  const v1::EditScript script = Parsed(
      R"({"ops": [
        {"op": "update_node", "node_id": "a", "patch": {"overall_rating_0_to_10": 12,
          "confidence_0_to_1": "0.4", "notes": 5, "solution_ref": {"solution_id": "forged"},
          "action": {"difficulty_1_to_5": 9, "score_0_to_1": -3}}},
        {"op": "insert_node", "node": {"node_id": "bad id", "action": {"title": "t"}}},
        {"op": "no_such"}, 7,
        {"op": "delete_node"}]})",
      /*clamp=*/true);
  v1::EditScript expected;
  ASSERT_TRUE(
      ParseTextproto(R"pb(
                       ops {
                         update {
                           node_id: "a"
                           patch { overall_rating: 10 confidence: 0.4 difficulty: 5 score: 0 }
                         }
                       }
                       ops { insert { node { title: "t" difficulty: 3 } } }
                       ops {}
                       ops {}
                       ops { remove {} }
                     )pb",
                     "expected", &expected)
          .ok());
  EXPECT_EQ(ToTextproto(script), ToTextproto(expected));
  EXPECT_EQ(Parsed(R"({"nodes": [{"node_id": "a", "parent_id": "b"}, {"node_id": "b",
                       "parent_id": "a"}, {"node_id": "c", "parent_id": "gone"}]})",
                   true)
                .ops_size(),
            3);
  EXPECT_THAT(Fault("{\"ops\": 5}", true), HasSubstr("must be an array"));
}

TEST(EditReplyTest, UnreadableOperationsSurviveARoundTripToo) {
  const v1::EditScript script = Parsed(
      R"({"ops": [{"op": "update_node", "node_id": ""}, {"op": "insert_node"}, {"op": "x"},
                  {"op": "split_node", "children": [3]}]})",
      /*clamp=*/true);
  EXPECT_EQ(ToTextproto(Parsed(RenderEditScript(script), true)), ToTextproto(script));
}

TEST(EditReplyTest, RenderedScriptsParseBack) {
  for (const bool clamp : {false, true}) {
    const v1::EditScript script = Parsed(
        R"({"active_leaf_id": "b", "kernel_summary": "a \"quoted\"\nline \u20ac",
            "open_questions": ["why?"], "ops": [)" +
            std::string(kInsert) + R"(,
            {"op": "update_node", "node_id": "a", "patch": {"confidence_0_to_1": 0.1,
             "impacts": {"register_pressure": {"rating_0_to_10": 3.3333333333333335}}}},
            {"op": "split_node", "node_id": "a", "children": [{"decision": "x"}]},
            {"op": "delete_node", "node_id": "c"}]})",
        clamp);
    EXPECT_EQ(ToTextproto(Parsed(RenderEditScript(script), clamp)), ToTextproto(script));
  }
}

// The parser must accept the examples in the prompts.
TEST(EditReplyTest, ExamplesInThePromptsParse) {
  WorldModelPromptContext context;
  const std::string init = BuildWorldModelPrompt(SmallFacts(), context).system;
  EXPECT_EQ(Parsed(init.substr(init.find("# Answer"))).ops_size(), 2);
  context.kind = WorldModelPromptKind::kPropose;
  const std::string edit = BuildWorldModelPrompt(SmallFacts(), context).system;
  EXPECT_EQ(Parsed(edit.substr(edit.find("# Answer"))).ops_size(), 4);
}

TEST(EditReplyTest, HostileTextTakesLinearTime) {
  std::string nested;
  for (int i = 0; i < 200000; ++i) nested += "{\"ops\":";
  EXPECT_FALSE(ParseEditReply(nested).ok());
  nested += "1";
  for (int i = 0; i < 200000; ++i) nested += "}";
  EXPECT_FALSE(ParseEditReply(nested).ok());
  std::string many;
  while (many.size() < (2 << 20)) many += "{\"ops\": x} ";
  EXPECT_FALSE(ParseEditReply(many).ok());
}

}  // namespace
}  // namespace ksearch
