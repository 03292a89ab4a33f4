// Changes that people make to a running world-model search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/textproto.h"
#include "coordinator/world_model/world_model.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kTree[] = R"(
  ops { insert { node_id: "a" parent_id: "root" node { title: "A" score: 0.9 difficulty: 2 } } }
  ops { insert { node_id: "b" parent_id: "root" node { title: "B" score: 0.7 difficulty: 2 } } }
  ops { insert { node_id: "c" parent_id: "root" node { title: "C" score: 0.6 difficulty: 2 } } }
)";

std::string Reply(const AskModel& ask) {
  const std::string& purpose = ask.labels.purpose;
  if (purpose == "init") return kTree;
  if (purpose == "propose" || purpose == "refine" || purpose == "too_hard") return "";
  return absl::StrCat(ask.labels.node_id, " call ", ask.call_number, " fail");
}

v1::SteerRunRequest Edits(const std::string& script) {
  v1::SteerRunRequest change;
  EXPECT_TRUE(ParseTextproto(script, "edits", change.mutable_edits()).ok());
  return change;
}

v1::SteerRunRequest Program(const std::string& text, const std::string& parent = "") {
  v1::SteerRunRequest change;
  change.mutable_program()->set_parent_id(parent);
  change.mutable_program()->set_title("By hand");
  v1::Sources* sources = change.mutable_program()->mutable_sources();
  sources->set_language(v1::LANGUAGE_CPP);
  v1::SourceFile* file = sources->add_files();
  file->set_path("kernel.cpp");
  file->set_content(text);
  return change;
}

class SteeringTest : public testing::TestWithParam<bool> {
 protected:
  SteeringTest() : driver_(TestContext(/*paper=*/false, 6), Reply) {
    driver_.restart_before_every_step = GetParam();
    driver_.Start();
    driver_.Step();  // the tree exists, and the first attempt at a is pending
  }
  absl::Status Steer(const v1::SteerRunRequest& change) {
    const std::string before = driver_.strategy().Save();
    const absl::Status status = driver_.Steer(change);
    if (!status.ok()) {
      EXPECT_EQ(driver_.strategy().Save(), before) << "an error changes nothing";
    }
    return status;
  }

  SearchDriver driver_;
};

TEST_P(SteeringTest, AnIdeaOfAPersonIsTriedByItsScore) {
  ASSERT_TRUE(Steer(Edits("ops { update { node_id: 'b' patch { score: 0.2 } } }"
                          "ops { insert { parent_id: 'root' node_id: 'own'"
                          "               node { title: 'Own' score: 0.95 difficulty: 1 } } }"))
                  .ok());
  const v1::RunEvent* event = driver_.FindEvent(v1::RunEvent::STEERED);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->text(), "a person: score of b is 0.20, adds \"Own\"");
  EXPECT_EQ(driver_.events.back().kind(), v1::RunEvent::NODE_INSERTED);
  EXPECT_EQ(driver_.events.back().node_id(), "own");
  driver_.Run();
  std::vector<std::string> nodes;
  for (const v1::RunEvent& each : driver_.events) {
    if (each.kind() == v1::RunEvent::CYCLE_STARTED) nodes.push_back(each.node_id());
  }
  ASSERT_GE(nodes.size(), 2u);
  EXPECT_EQ(nodes[0], "a");
  EXPECT_EQ(nodes[1], "own");
}

TEST_P(SteeringTest, TheRulesOfModelsEditsHoldAndTheWholeIsRefused) {
  const absl::Status refused = Steer(
      Edits("ops { remove { node_id: 'c' reason: 'no' } } ops { remove { node_id: 'a' } }"
            "ops { update { node_id: 'b' patch { score: 7 } } } ops { remove { node_id: 'x' } }"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), AllOf(HasSubstr("ops[1]: node a is being worked on"),
                                                    HasSubstr("action.score 7 is outside [0, 1]"),
                                                    HasSubstr("ops[3]: there is no node \"x\"")));
  EXPECT_NE(FindNode(driver_.tree(), "c"), nullptr);
  EXPECT_EQ(driver_.FindEvent(v1::RunEvent::STEERED), nullptr);

  EXPECT_EQ(Steer(Edits("")).code(), absl::StatusCode::kInvalidArgument);
  v1::SteerRunRequest many = Edits("");
  for (int i = 0; i < 65; ++i) {
    many.mutable_edits()->add_ops()->mutable_insert()->set_parent_id("root");
  }
  EXPECT_THAT(std::string(Steer(many).message()), HasSubstr("give 1 to 64 operations"));

  ASSERT_TRUE(Steer(Edits("ops { remove { node_id: 'c' reason: 'no gain' } }")).ok());
  EXPECT_EQ(FindNode(driver_.tree(), "c"), nullptr);
  EXPECT_EQ(driver_.tree().tombstones(0).reason(), "no gain");
  EXPECT_EQ(driver_.FindEvent(v1::RunEvent::STEERED)->text(), "a person: prunes c: no gain");
}

TEST_P(SteeringTest, AProgramOfAPersonBecomesASolvedNodeIfItPasses) {
  const v1::SteerRunRequest given = Program("mine score=3.0", "b");
  ASSERT_TRUE(Steer(given).ok());
  EXPECT_THAT(std::string(Steer(given).message()), HasSubstr("being evaluated already"));
  driver_.Run();
  const std::string id = CandidateId(given.program().sources());
  const v1::Node* solved = nullptr;
  for (const v1::Node& node : driver_.tree().nodes()) {
    if (node.solution().candidate_id() == id) solved = &node;
  }
  ASSERT_NE(solved, nullptr);
  EXPECT_EQ(solved->parent_id(), "b");
  EXPECT_EQ(solved->action().title(), "By hand");
  EXPECT_DOUBLE_EQ(solved->solution().score(), 3.0);
  EXPECT_EQ(driver_.state().rounds_done(), 6) << "it uses no round";
  EXPECT_EQ(driver_.state().awaited_solutions_size(), 0);
}

TEST_P(SteeringTest, AProgramThatFailsLeavesTheTreeAsItIs) {
  const int nodes = driver_.tree().nodes_size();
  ASSERT_TRUE(Steer(Program("mine fail")).ok());
  while (driver_.state().awaited_solutions_size() > 0) ASSERT_TRUE(driver_.Step());
  EXPECT_EQ(driver_.tree().nodes_size(), nodes);
  EXPECT_THAT(driver_.FindEvent(v1::RunEvent::CANDIDATE_FAILED)->text(),
              HasSubstr("compile_error"));
  EXPECT_THAT(std::string(Steer(Program("mine fail")).message()),
              HasSubstr("evaluated this program already"));
  EXPECT_THAT(std::string(Steer(Program("mine score=1", "nowhere")).message()),
              HasSubstr("program.parent_id: there is no node \"nowhere\""));
}

INSTANTIATE_TEST_SUITE_P(RestartedBeforeEveryStep, SteeringTest, testing::Bool());

TEST(SteeringWithoutTreeTest, SaysWhatToDo) {
  SearchDriver driver(TestContext(false, 1), Reply);
  driver.Start();
  EXPECT_THAT(std::string(driver.Steer(Program("mine score=1")).message()),
              HasSubstr("no world model yet"));
  driver.Run();
  EXPECT_THAT(std::string(driver.Steer(Program("mine score=1")).message()),
              HasSubstr("the search has ended: budget of 1 rounds is spent"));
}

}  // namespace
}  // namespace ksearch
