// The benefit of memory across tasks, of a judge and of a stop near the floor, by `ksearch compare`
// on landscapes made for it (configs/demo/landscapes/ablations): the real coordinator, command line
// and store; model and worker simulate a landscape, and the worker reports a program's true speed
// with noise. The tests check that both arms are what they claim; the reports are printed.
//
// As in docs/internals/benchmarks.md:  KSEARCH_SEEDS=20 integration_ablation_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "common/textproto.h"
#include "coordinator/llm/model_server/chat_endpoint.h"
#include "coordinator/llm/model_server/http_server.h"
#include "coordinator/llm/model_server/landscape/landscape_player.h"
#include "coordinator/tasks/directory_suite.h"
#include "proto/experiment.pb.h"
#include "tests/integration/from_json.h"
#include "tests/integration/landscape_worker.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

constexpr char kFirstTask[] = "tunable_scale_f32";
constexpr char kSecondTask[] = "tunable_triple_f32";
// Runs on the first task, before the second one reads what they measured.
constexpr int kTeachers = 3;

int Seeds() {
  int seeds = 2;
  const char* const given = std::getenv("KSEARCH_SEEDS");
  if (given != nullptr && !absl::SimpleAtoi(given, &seeds)) ADD_FAILURE() << "KSEARCH_SEEDS";
  return seeds;
}

std::string DemoFolder() { return LocalCluster::SourcePath("configs/demo/landscapes/"); }

using Changes = std::vector<std::pair<absl::string_view, absl::string_view>>;

// A shipped landscape with some texts replaced.
Landscape Load(const std::string& name, const Changes& changes = {}) {
  const std::string path = absl::StrCat(DemoFolder(), name, ".landscape.textproto");
  std::string text = ReadFile(path, 1 << 20).value();
  for (const auto& [from, to] : changes) {
    EXPECT_TRUE(absl::StrContains(text, from)) << path << " has no " << from;
  }
  text = absl::StrReplaceAll(text, changes);
  return Landscape::Parse(text, path).value();
}

// Plays the landscape of the task that a prompt is about.
class TwoTasks final : public ReplySource {
 public:
  TwoTasks(const LandscapePlayer& first, const LandscapePlayer& second)
      : first_(first), second_(second) {}

  const std::string& model() const override { return first_.landscape().spec().model(); }
  EndpointResponse Reply(const ChatQuestion& question) override {
    const bool second =
        absl::StrContains(absl::StrCat(question.system, question.user), kSecondTask);
    const LandscapePlayer::Reply reply =
        (second ? second_ : first_)
            .Answer({question.Header("x-ksearch-call"), question.system, question.user});
    return CompletionResponse(
        {.id = "played", .model = model(), .text = reply.text, .usage = std::nullopt}, question);
  }

 private:
  const LandscapePlayer& first_;
  const LandscapePlayer& second_;
};

class Machine {
 public:
  Machine(Landscape first, Landscape second)
      : first_(std::move(first)),
        second_(std::move(second)),
        tasks_(MakeDirectorySuite({DemoFolder() + "tasks"}).value()),
        first_task_(tasks_->Load(kFirstTask).value()),
        second_task_(tasks_->Load(kSecondTask).value()) {
    models_ =
        HttpServer::Start(0, [endpoint = std::make_shared<ChatEndpoint>(std::make_unique<TwoTasks>(
                                  first_, second_))](const EndpointRequest& request) {
          return endpoint->Answer(request);
        }).value();
    cluster_.UseModelServer(absl::StrCat("http://127.0.0.1:", models_->port(), "/v1"));
    cluster_.StartCoordinator("", DemoFolder() + "tasks");
    worker_ = std::make_unique<LandscapeWorker>(
        std::vector<LandscapeWorker::World>{{&first_.landscape(), &first_task_},
                                            {&second_.landscape(), &second_task_}},
        cluster_.address());
  }

  // The report of an experiment that is shipped; printed for people, too.
  v1::ExperimentReport Compare(const std::string& name) {
    const std::string path =
        absl::StrCat(DemoFolder(), "ablations/", name, ".experiment.textproto");
    const std::string text = absl::StrReplaceAll(ReadFile(path, 1 << 20).value(),
                                                 {{"seeds: 20", absl::StrCat("seeds: ", Seeds())}});
    const std::string own = cluster_.folder() + "/experiment.textproto";
    EXPECT_TRUE(WriteFileAtomically(own, text).ok());
    const CommandOutput told = cluster_.Cli({"compare", own}, absl::Minutes(20));
    EXPECT_EQ(told.exit.code, 0) << told.err;
    std::printf("%s\n", told.out.c_str());
    std::fflush(stdout);
    const CommandOutput json = cluster_.Cli({"compare", own, "--json"}, absl::Minutes(20));
    EXPECT_EQ(json.exit.code, 0) << json.err;
    return FromJson<v1::ExperimentReport>(json.out);
  }

  LocalCluster& cluster() { return cluster_; }

 private:
  const LandscapePlayer first_;
  const LandscapePlayer second_;
  const std::unique_ptr<TaskSuite> tasks_;
  const v1::Task first_task_;
  const v1::Task second_task_;
  std::unique_ptr<HttpServer> models_;
  LocalCluster cluster_;
  std::unique_ptr<LandscapeWorker> worker_;
};

// Runs on the first task measure what kinds of changes bring, a second task reads it.
class MemoryAblation : public testing::TestWithParam<const char*> {};

TEST_P(MemoryAblation, TheSecondTaskReadsWhatTheFirstOneMeasured) {
  Machine machine(Load("ablations/taught"), Load(absl::StrCat("ablations/", GetParam())));
  for (int i = 1; i <= kTeachers; ++i) {
    const CommandOutput run = machine.cluster().Cli(
        {"run", "--task", kFirstTask, "--rounds", "60", "--parallel", "4", "--seed",
         absl::StrCat(i), "--language", "cpp", "--wait-for-workers", "60s"},
        absl::Minutes(5));
    EXPECT_EQ(run.exit.code, 0) << run.err;
  }
  for (const char* strategy : {"world_model", "racing"}) {
    std::printf("after runs on a task, %s reads on a %s of it:\n", strategy, GetParam());
    const v1::ExperimentReport report = machine.Compare(absl::StrCat("memory_", strategy));
    ASSERT_EQ(report.trials_size(), 2 * Seeds());
    for (const v1::TrialSummary& trial : report.trials()) {
      EXPECT_EQ(trial.state(), "finished") << trial.reason();
      const CommandOutput shown = machine.cluster().Cli({"memory", "show", trial.run_id()});
      // Which kinds of changes the teachers measured often enough depends on the order of answers.
      EXPECT_EQ(absl::StrContains(shown.out, "op_type"), trial.arm() == "read")
          << trial.arm() << ": " << shown.out;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, MemoryAblation, testing::Values("kin", "stranger"));

// A judge that knows more than the model that writes programs, as much, or nothing.
class JudgeAblation : public testing::TestWithParam<const char*> {};

TEST_P(JudgeAblation, AJudgeNamesABottleneckBeforeEachAttempt) {
  const std::string skill = absl::StrCat("  skill: 0.15\n  judge_skill: ", GetParam(), "\n");
  Machine machine(Load("ablations/taught", {{"  skill: 0.15\n", skill}}), Load("ablations/kin"));
  for (const char* strategy : {"sequential", "world_model", "racing"}) {
    std::printf("a judge of skill %s, who writes programs has 0.15; %s:\n", GetParam(), strategy);
    const v1::ExperimentReport report = machine.Compare(absl::StrCat("judge_", strategy));
    ASSERT_EQ(report.trials_size(), 2 * Seeds());
    for (const v1::TrialSummary& trial : report.trials()) {
      EXPECT_EQ(trial.state(), "finished") << trial.reason();
      const CommandOutput log = machine.cluster().Cli({"log", trial.run_id()});
      EXPECT_EQ(absl::StrContains(log.out, "judge: limited by memory"), trial.arm() == "judged")
          << log.out;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WithSkill, JudgeAblation, testing::Values("0", "0.15", "0.8"),
                         [](const auto& skill) {
                           return absl::StrReplaceAll(skill.param, {{".", "_"}});
                         });

TEST(FloorAblation, AnEndNearTheFloorSavesEvaluations) {
  Machine machine(Load("smooth", {{"noise: 0.02\n", "noise: 0.02\nfloor: 0.08\n"}}),
                  Load("ablations/kin"));
  for (const char* strategy : {"sequential", "world_model", "racing"}) {
    std::printf("an end near the floor, %s:\n", strategy);
    const v1::ExperimentReport report = machine.Compare(absl::StrCat("floor_", strategy));
    ASSERT_EQ(report.trials_size(), 3 * Seeds());
    int saved = 0;
    for (const v1::TrialSummary& trial : report.trials()) {
      EXPECT_EQ(trial.state(), "finished") << trial.reason();
      if (trial.arm() == "to-the-end") {
        EXPECT_EQ(trial.evaluations(), 120);
      } else if (trial.evaluations() < 120) {
        EXPECT_THAT(trial.reason(), testing::HasSubstr("of the fastest possible"));
        ++saved;
      }
    }
    EXPECT_GT(saved, 0);
  }
}

}  // namespace
}  // namespace ksearch
