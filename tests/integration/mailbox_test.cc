// Whole searches without a callable model: answered through two copies of the state folder, and
// replayed from a recording. Real programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/llm/model_server/cassette.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class MailboxTest : public testing::Test {
 protected:
  static std::string CassettePath() {
    return LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto");
  }
  std::vector<std::string> RunArgs(std::vector<std::string> extra,
                                   const std::string& rounds = "6") const {
    std::vector<std::string> args = {
        "run",
        "--task",
        "softmax_rows_f32",
        "--rounds",
        rounds,
        "--stagnation",
        "2",
        "--config",
        LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")};
    args.insert(args.end(), extra.begin(), extra.end());
    return args;
  }
  v1::RunStatus Status(const std::string& run) {
    return FromJson<v1::RunStatus>(cluster_.Cli({"status", run, "--json"}).out);
  }
  std::string TreeJson(const std::string& run) { return cluster_.Cli({"tree", run, "--json"}).out; }
  // What the run did, without times: proposals and incumbents by their contents.
  std::vector<std::string> Story(const std::string& run) {
    std::vector<std::string> story;
    const std::string log = cluster_.Cli({"log", run, "--json"}).out;
    for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
      const auto event = FromJson<v1::RunEvent>(std::string(line));
      if (event.kind() == v1::RunEvent::RUN_RESUMED) continue;
      story.push_back(absl::StrCat(v1::RunEvent::Kind_Name(event.kind()), " ", event.node_id(), " ",
                                   event.candidate_id(), " ", event.score()));
    }
    return story;
  }

  LocalCluster cluster_;
};

// The state folder travels between a place where prompts are answered and one where kernels run.
class Places {
 public:
  explicit Places(LocalCluster* cluster) : cluster_(*cluster), home_(cluster->folder() + "/home") {
    auto cassette = Cassette::Load(
        LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"));
    EXPECT_TRUE(cassette.ok()) << cassette.status();
    if (cassette.ok()) cassette_.emplace(*std::move(cassette));
  }

  // A plain copy into a new folder.
  std::string CarryToNode(const std::string& from) {
    const std::string to = absl::StrCat(cluster_.folder(), "/node", ++journeys_, "/state");
    fs::create_directories(fs::path(to).parent_path());
    fs::copy(from, to, fs::copy_options::recursive);
    return to;
  }
  void CarryHome(const std::string& from) {
    fs::remove_all(home_);
    fs::copy(from, home_, fs::copy_options::recursive);
    fs::remove_all(from);
  }
  const std::string& home() const { return home_; }

  // Answers everything that waits at home, by turns as a program and as a person would.
  int AnswerAll() {
    const CommandOutput listed =
        RunProgram({cluster_.BinaryPath("ksearch"), "mailbox", "list", "--json", "--dir", home_});
    EXPECT_EQ(listed.exit.code, 0) << listed.err;
    const auto prompts = FromJson<v1::ListPromptsReply>(listed.out);
    for (const v1::MailboxEntry& entry : prompts.prompts()) {
      const v1::MailboxPrompt& prompt = entry.prompt();
      EXPECT_TRUE(asked_.insert(prompt.id()).second) << prompt.id() << " is asked a second time";
      const Cassette::Entry* reply =
          cassette_->Find({prompt.purpose(), prompt.node(), prompt.attempt(), prompt.cycle()});
      if (reply == nullptr) {
        ADD_FAILURE() << "no reply to " << prompt.DebugString();
        continue;
      }
      if (asked_.size() % 2 == 0) {
        std::ofstream(home_ + "/mailbox/inbox/" + prompt.id() + ".md") << reply->text;
        continue;
      }
      const std::string file = cluster_.folder() + "/reply.txt";
      std::ofstream(file) << reply->text;
      const CommandOutput answered = RunProgram(
          {cluster_.BinaryPath("ksearch"), "mailbox", "answer", prompt.id(), file, "--dir", home_});
      EXPECT_EQ(answered.exit.code, 0) << answered.err;
    }
    return prompts.prompts_size();
  }

 private:
  LocalCluster& cluster_;
  const std::string home_;
  std::optional<Cassette> cassette_;
  std::set<std::string> asked_;
  int journeys_ = 0;
};

TEST_F(MailboxTest, SearchInManyAlternationsBetweenTwoPlaces) {
  cluster_.StartModelServer(CassettePath());
  cluster_.StartCoordinator("providers { name: \"people\" mailbox {} }");
  cluster_.StartWorker("w1");  // stays, and finds every later coordinator
  ASSERT_EQ(
      cluster_
          .Cli(RunArgs(
              {"--provider", "people", "--model", "scripted", "--memory", "off", "--detach"}, "10"))
          .exit.code,
      0);
  const std::string run = Status("last").run_id();
  ASSERT_TRUE(Eventually([&] {
    return FromJson<v1::ListPromptsReply>(cluster_.Cli({"mailbox", "list", "--json"}).out)
               .prompts_size() == 1;
  }));
  EXPECT_THAT(cluster_.Cli({"mailbox", "show", run}).out, HasSubstr("softmax"));
  ASSERT_EQ(cluster_.Stop("coordinator"), 0);
  Places places(&cluster_);
  places.CarryHome(cluster_.folder() + "/state");

  int alternations = 0;
  bool ended = false;
  while (!ended && alternations < 60) {
    ASSERT_GE(places.AnswerAll(), 1) << "after " << alternations << " alternations";
    const std::string state = places.CarryToNode(places.home());
    cluster_.StartCoordinatorUntilItWaits(state);
    const std::string said = cluster_.WaitForEnd("coordinator");
    ended = said.find("no run is active") != std::string::npos;
    EXPECT_TRUE(ended || said.find(run + ".") != std::string::npos) << said;
    places.CarryHome(state);
    ++alternations;
  }
  EXPECT_GE(alternations, 10);
  RecordProperty("alternations", alternations);

  // An uninterrupted search with the same replies finds the same.
  fs::copy(places.home(), cluster_.folder() + "/state", fs::copy_options::recursive);
  cluster_.StartCoordinator();
  const v1::RunStatus status = Status(run);
  EXPECT_EQ(status.state(), v1::RUN_STATE_FINISHED) << status.reason();
  EXPECT_EQ(status.rounds_done(), 10);
  // Without what the first search measured, which its plan would show.
  const CommandOutput again =
      cluster_.Cli(RunArgs({"--model", "scripted", "--memory", "off"}, "10"));
  // This test does not depend on whether a busy machine confirms a candidate.
  ASSERT_EQ(again.exit.code, status.has_best() ? 0 : 7) << again.out << again.err;
  EXPECT_EQ(TreeJson("last"), TreeJson(run));
  EXPECT_EQ(Story("last"), Story(run));
}

TEST_F(MailboxTest, RecordedRunIsReplayedWithoutModelAndWithoutWorker) {
  cluster_.StartModelServer(CassettePath());
  cluster_.StartCoordinator();
  cluster_.StartWorker("w1");
  cluster_.StartWorker("w2");
  const CommandOutput recorded = cluster_.Cli(RunArgs({"--parallel", "3"}));
  ASSERT_EQ(recorded.exit.code, Status("last").has_best() ? 0 : 7) << recorded.err;
  const std::string tree = TreeJson("last");
  const auto story = Story("last");
  const std::string file = cluster_.folder() + "/run.jsonl";
  const CommandOutput exported = cluster_.Cli({"export", "last", "--cassette", file});
  ASSERT_EQ(exported.exit.code, 0) << exported.err;
  for (const char* name : {"model-server", "w1", "w2", "coordinator"}) cluster_.Kill(name);
  fs::remove_all(cluster_.folder() + "/state");

  cluster_.StartCoordinator(absl::StrCat("providers { name: \"recorded\" replay { cassette: \"",
                                         file, "\" import_results: true } }"));
  const CommandOutput replayed =
      cluster_.Cli({"run", "--like-cassette", file, "--provider", "recorded"});
  ASSERT_EQ(replayed.exit.code, recorded.exit.code) << replayed.out << replayed.err;
  EXPECT_EQ(TreeJson("last"), tree);
  EXPECT_EQ(Story("last"), story);

  const CommandOutput other =
      cluster_.Cli({"run", "--like-cassette", file, "--provider", "recorded", "--effort", "high"});
  EXPECT_NE(other.exit.code, 0);
  EXPECT_THAT(other.err, HasSubstr("reasoning_effort: recorded '', asked 'high'"));
}

TEST_F(MailboxTest, PeopleAnswerThroughTheCoordinator) {
  cluster_.StartCoordinator("providers { name: \"people\" mailbox {} }");
  ASSERT_EQ(
      cluster_.Cli(RunArgs({"--provider", "people", "--detach", "--without-workers"})).exit.code,
      0);
  ASSERT_TRUE(Eventually([&] {
    return FromJson<v1::ListPromptsReply>(cluster_.Cli({"mailbox", "list", "--json"}).out)
               .prompts_size() == 1;
  }));
  const auto prompts =
      FromJson<v1::ListPromptsReply>(cluster_.Cli({"mailbox", "list", "--json"}).out);
  const std::string id = prompts.prompts(0).prompt().id();
  const std::string file = cluster_.folder() + "/reply.json";
  std::ofstream(file) << R"({"answer": "I would rather not.", "answered_by": "ann"})";
  const CommandOutput answered = cluster_.Cli({"mailbox", "answer", id, file});
  EXPECT_EQ(answered.exit.code, 0) << answered.err;
  // The reply is not a tree, so the search asks again.
  EXPECT_TRUE(Eventually([&] {
    const auto now =
        FromJson<v1::ListPromptsReply>(cluster_.Cli({"mailbox", "list", "--json"}).out);
    return now.prompts_size() == 1 && now.prompts(0).prompt().id() != id;
  }));
  EXPECT_THAT(cluster_.Cli({"mailbox", "show", id}).err, HasSubstr("answered already"));
  EXPECT_EQ(cluster_.Cli({"mailbox", "answer", "nothing", file}).exit.code, 3);
  EXPECT_EQ(cluster_.Cli({"mailbox", "list", "--dir", "/nowhere"}).exit.code, 3);
}

}  // namespace
}  // namespace ksearch
