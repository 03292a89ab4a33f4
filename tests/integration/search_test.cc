// Whole searches with the real programs: a scripted model server, a coordinator, workers, real
// compiles in the real sandbox, the real verifier.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/textproto.h"
#include "proto/search_service.pb.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class SearchTest : public testing::Test {
 protected:
  void StartAll(int workers = 1) {
    cluster_.StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"));
    cluster_.StartCoordinator();
    for (int i = 1; i <= workers; ++i) cluster_.StartWorker(absl::StrCat("w", i));
  }
  std::vector<std::string> RunArgs(std::vector<std::string> extra = {}) const {
    std::vector<std::string> args = {
        "run",
        "--task",
        "softmax_rows_f32",
        "--rounds",
        "6",
        "--stagnation",
        "2",
        "--config",
        LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")};
    args.insert(args.end(), extra.begin(), extra.end());
    return args;
  }
  std::vector<v1::RunEvent> Events(const std::string& run) {
    std::vector<v1::RunEvent> events;
    const std::string log = cluster_.Cli({"log", run, "--json"}).out;
    for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
      events.push_back(FromJson<v1::RunEvent>(std::string(line)));
    }
    return events;
  }
  v1::RunStatus Status(const std::string& run) {
    return FromJson<v1::RunStatus>(cluster_.Cli({"status", run, "--json"}).out);
  }
  v1::WorldModel Tree(const std::string& run) {
    return FromJson<v1::WorldModel>(cluster_.Cli({"tree", run, "--json"}).out);
  }
  // The tree without what was measured: ids, parents, and which candidate solved which node.
  std::vector<std::string> Shape(const std::string& run) {
    std::vector<std::string> shape;
    const v1::WorldModel tree = Tree(run);
    for (const v1::Node& node : tree.nodes()) {
      shape.push_back(absl::StrCat(node.parent_id(), " > ", node.node_id(), " : ",
                                   node.solution().candidate_id()));
    }
    for (const v1::Tombstone& tombstone : tree.tombstones()) {
      shape.push_back(absl::StrCat("pruned ", tombstone.node_id()));
    }
    return shape;
  }
  // Candidates in the order in which they were proposed, and incumbents in theirs.
  std::vector<std::string> Story(const std::string& run) {
    std::vector<std::string> story;
    for (const v1::RunEvent& event : Events(run)) {
      if (event.kind() == v1::RunEvent::CANDIDATE_PROPOSED ||
          event.kind() == v1::RunEvent::NEW_INCUMBENT) {
        story.push_back(
            absl::StrCat(v1::RunEvent::Kind_Name(event.kind()), " ", event.candidate_id()));
      }
    }
    std::stable_sort(story.begin(), story.end(), [](const auto& a, const auto& b) {
      return a[0] < b[0];  // incumbents may come before or after an unrelated proposal
    });
    return story;
  }

  LocalCluster cluster_;
};

TEST_F(SearchTest, FindsAFasterKernelAndTellsOfIt) {
  StartAll();
  const CommandOutput run = cluster_.Cli(RunArgs());
  ASSERT_EQ(run.exit.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("over the baseline"));

  const v1::RunStatus status = Status("last");
  EXPECT_EQ(status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(status.rounds_done(), 6);
  ASSERT_TRUE(status.has_best());
  EXPECT_GT(status.best().speedup_low(), 1.0);

  std::multiset<v1::RunEvent::Kind> kinds;
  for (const v1::RunEvent& event : Events("last")) kinds.insert(event.kind());
  for (const auto kind :
       {v1::RunEvent::RUN_STARTED, v1::RunEvent::WORLD_MODEL_READY, v1::RunEvent::CYCLE_STARTED,
        v1::RunEvent::CANDIDATE_FAILED, v1::RunEvent::CANDIDATE_PASSED, v1::RunEvent::NODE_SOLVED,
        v1::RunEvent::NEW_INCUMBENT, v1::RunEvent::RUN_ENDED}) {
    EXPECT_GE(kinds.count(kind), 1u) << v1::RunEvent::Kind_Name(kind);
  }

  const auto best = FromJson<v1::BestReply>(cluster_.Cli({"best", "last", "--json"}).out);
  EXPECT_EQ(best.best().candidate_id(), status.best().candidate_id());
  EXPECT_EQ(best.confirmation().outcome(), v1::OUTCOME_PASSED);
  bool held_out = false;
  for (const auto& comparison : best.confirmation().comparisons()) {
    for (const auto& workload : comparison.workloads()) held_out |= workload.held_out();
  }
  EXPECT_TRUE(held_out) << "a confirmation covers held-out workloads";
  EXPECT_THAT(cluster_.Cli({"best", "last", "--source"}).out, HasSubstr("ksearch_run"));

  const auto shown = FromJson<v1::CandidateReply>(
      cluster_.Cli({"show", "last", status.best().candidate_id().substr(0, 10), "--json"}).out);
  EXPECT_GE(shown.results_size(), 2) << "screening and confirmation";
  EXPECT_GT(shown.results(0).workloads(0).candidate().latency_us_size(), 5) << "raw samples kept";
  EXPECT_THAT(shown.call().prompt(), HasSubstr("ksearch_task.h"));

  // The claim holds when it is measured again.
  const CommandOutput again = cluster_.Cli({"recheck", "last", "--json"});
  EXPECT_EQ(again.exit.code, 0) << again.out << again.err;
  const auto recheck = FromJson<v1::RecheckResult>(again.out);
  EXPECT_EQ(recheck.verdict(), v1::RecheckResult::HOLDS) << recheck.text();
  EXPECT_EQ(recheck.candidate_id(), status.best().candidate_id());
  EXPECT_NE(recheck.repeated().job_id(), best.confirmation().job_id());
  EXPECT_EQ(recheck.repeated().comparisons_size(), 1);
  EXPECT_EQ(cluster_.Cli({"recheck", "last", "no-such-candidate"}).exit.code, 3);

  // A folder's record that claims too much does not hold.
  const std::string folder = cluster_.folder() + "/result";
  const CommandOutput written = cluster_.Cli({"best", "last", "-o", folder});
  ASSERT_EQ(written.exit.code, 0) << written.err;
  EXPECT_EQ(written.err, absl::StrCat("1 file in ", folder, "\n"));
  const std::string file = best.sources().files(0).path();
  const auto record = [&](double speedup) {
    return WriteFileAtomically(
        folder + "/record.json",
        absl::StrFormat(R"({"task": "%s", "language": "cpp", "file": "%s", "candidate_id": "%s",
                            "verdict": "improved", "speedup": %g, "low": %g, "high": %g,
                            "device": "%s", "architecture": "%s", "harness_version": "%s"})",
                        best.task(), file, status.best().candidate_id(), speedup, 0.9 * speedup,
                        1.1 * speedup, best.confirmation().device().name(),
                        best.confirmation().device().architecture(),
                        best.confirmation().device().harness_version()));
  };
  ASSERT_TRUE(record(1e6).ok());
  const CommandOutput refuted = cluster_.Cli({"recheck", folder, "--json"});
  EXPECT_EQ(refuted.exit.code, 7) << refuted.out << refuted.err;
  EXPECT_THAT(refuted.out, HasSubstr("less than was claimed"));
  const CommandOutput nowhere = cluster_.Cli({"recheck", cluster_.folder() + "/nowhere"});
  EXPECT_EQ(nowhere.exit.code, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("record.json"));
}

TEST_F(SearchTest, SameSeedAndCassetteGiveTheSameSearch) {
  StartAll();
  ASSERT_EQ(cluster_.Cli(RunArgs()).exit.code, 0);
  const auto shape = Shape("last");
  const auto story = Story("last");
  ASSERT_EQ(cluster_.Cli(RunArgs()).exit.code, 0);
  EXPECT_EQ(Shape("last"), shape);
  EXPECT_EQ(Story("last"), story);
}

TEST_F(SearchTest, ParallelRunIsRepeatedInItsRecordedOrder) {
  StartAll(2);
  ASSERT_EQ(cluster_.Cli(RunArgs({"--parallel", "3"})).exit.code, 0);
  const std::string first = Status("last").run_id();
  ASSERT_EQ(cluster_.Cli(RunArgs({"--parallel", "3", "--replay-order", first})).exit.code, 0);
  ASSERT_NE(Status("last").run_id(), first);
  EXPECT_EQ(Shape("last"), Shape(first));
  EXPECT_EQ(Story("last"), Story(first));
}

TEST_F(SearchTest, StoppedRunIsResumedToTheSameEnd) {
  StartAll();
  ASSERT_EQ(cluster_.Cli(RunArgs()).exit.code, 0);
  const auto shape = Shape("last");
  ASSERT_EQ(cluster_.Cli(RunArgs({"--detach"})).exit.code, 0);
  ASSERT_EQ(cluster_.Cli({"stop", "last"}).exit.code, 0);
  EXPECT_EQ(Status("last").state(), v1::RUN_STATE_STOPPED);
  ASSERT_EQ(cluster_.Cli({"resume", "last"}).exit.code, 0);
  EXPECT_EQ(cluster_.Cli({"watch", "last"}).exit.code, 0);
  EXPECT_EQ(Shape("last"), shape);
}

TEST_F(SearchTest, CoordinatorKilledMidRunEndsWithTheSameTree) {
  StartAll();
  ASSERT_EQ(cluster_.Cli(RunArgs()).exit.code, 0);
  const auto shape = Shape("last");
  const v1::RunStatus undisturbed = Status("last");

  const CommandOutput started = cluster_.Cli(RunArgs({"--detach"}));
  ASSERT_EQ(started.exit.code, 0);
  for (int kill = 0; kill < 3; ++kill) {
    // At whatever instant: after the next event the run commits.
    const size_t events = Events("last").size();
    for (int tries = 0; tries < 500 && Events("last").size() <= events; ++tries) {
    }
    cluster_.Kill("coordinator");
    cluster_.StartCoordinator();
  }
  EXPECT_EQ(cluster_.Cli({"watch", "last"}).exit.code, 0);
  const v1::RunStatus status = Status("last");
  EXPECT_NE(status.run_id(), undisturbed.run_id());
  EXPECT_EQ(status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(Shape("last"), shape);
  EXPECT_EQ(status.llm_calls(), undisturbed.llm_calls());
  EXPECT_EQ(status.candidates(), undisturbed.candidates());
}

TEST_F(SearchTest, WorkerKilledMidRunIsReplaced) {
  StartAll();
  ASSERT_EQ(cluster_.Cli(RunArgs({"--detach"})).exit.code, 0);
  for (int tries = 0; tries < 3000 && Status("last").jobs_in_flight() == 0; ++tries) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  cluster_.Kill("w1");
  cluster_.StartWorker("w2");
  EXPECT_EQ(cluster_.Cli({"watch", "last"}).exit.code, 0);
  EXPECT_EQ(Status("last").state(), v1::RUN_STATE_FINISHED);
}

TEST_F(SearchTest, PeopleSteerARunThatGoesOnAlsoAcrossARestart) {
  StartAll();
  ASSERT_EQ(cluster_.Cli(RunArgs({"--detach"})).exit.code, 0);
  for (int tries = 0; tries < 3000 && Status("last").nodes() < 2; ++tries) {
    absl::SleepFor(absl::Milliseconds(20));
  }
  ASSERT_GE(Status("last").nodes(), 2);
  const auto steer = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"steer"});
    return cluster_.Cli(words);
  };
  const CommandOutput paused = steer({"pause", "last"});
  ASSERT_EQ(paused.exit.code, 0) << paused.err;
  EXPECT_THAT(paused.out, HasSubstr("paused"));

  ASSERT_EQ(steer({"add", "last", "An idea of mine", "--score", "0.01"}).exit.code, 0);
  std::string idea;
  const v1::WorldModel finished = Tree("last");
  for (const v1::Node& node : finished.nodes()) {
    if (node.action().title() == "An idea of mine") idea = node.node_id();
  }
  ASSERT_NE(idea, "");
  ASSERT_EQ(steer({"score", "last", idea, "0.02"}).exit.code, 0);
  const CommandOutput refused = steer({"prune", "last", "root"});
  EXPECT_EQ(refused.exit.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("the root cannot be deleted"));
  ASSERT_EQ(steer({"prune", "last", idea, "--reason", "no gain"}).exit.code, 0);
  const CommandOutput given = steer(
      {"give", "last", LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp"),
       "--title", "The baseline again"});
  ASSERT_EQ(given.exit.code, 0) << given.err;

  cluster_.Kill("coordinator");
  cluster_.StartCoordinator();
  EXPECT_TRUE(Status("last").paused());
  EXPECT_EQ(Status("last").state(), v1::RUN_STATE_RUNNING);
  ASSERT_EQ(steer({"unpause", "last"}).exit.code, 0);
  const CommandOutput watch = cluster_.Cli({"watch", "last"});
  EXPECT_EQ(watch.exit.code, 0) << watch.out << watch.err;
  EXPECT_EQ(Status("last").rounds_done(), 6) << "what people give uses no round";

  const v1::WorldModel tree = Tree("last");
  bool solved = false;
  for (const v1::Node& node : tree.nodes()) {
    EXPECT_NE(node.node_id(), idea);
    solved |= node.action().title() == "The baseline again" && node.has_solution();
  }
  EXPECT_TRUE(solved);
  std::vector<std::string> steered;
  for (const v1::RunEvent& event : Events("last")) {
    if (event.kind() == v1::RunEvent::STEERED) steered.push_back(event.text());
  }
  EXPECT_THAT(steered,
              testing::ElementsAre("paused by a person", "a person: adds \"An idea of mine\"",
                                   absl::StrCat("a person: score of ", idea, " is 0.02"),
                                   absl::StrCat("a person: prunes ", idea, ": no gain"),
                                   "a person gave a program: The baseline again",
                                   "continues after a pause"));
}

TEST_F(SearchTest, EvalGivesTheVerdictsOfARun) {
  cluster_.StartCoordinator();
  cluster_.StartWorker("w1");
  const auto eval = [&](const std::string& file) {
    return cluster_.Cli({"eval", "--task", "softmax_rows_f32", file, "--json"});
  };
  const CommandOutput good =
      eval(LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp"));
  EXPECT_EQ(good.exit.code, 0) << good.out << good.err;
  const auto result = FromJson<v1::JobResult>(good.out);
  EXPECT_EQ(result.outcome(), v1::OUTCOME_PASSED);
  EXPECT_TRUE(result.isolation().seccomp());
  EXPECT_TRUE(result.isolation().unprivileged_uid());

  const CommandOutput wrong =
      eval(LocalCluster::SourcePath("tests/bad_candidates/cpu/softmax_rows_f32/zeros.cpp"));
  EXPECT_EQ(wrong.exit.code, 7);
  EXPECT_EQ(FromJson<v1::JobResult>(wrong.out).outcome(), v1::OUTCOME_INCORRECT);

  const CommandOutput no_code =
      eval(LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/definition.json"));
  EXPECT_EQ(no_code.exit.code, 7);
  EXPECT_EQ(FromJson<v1::JobResult>(no_code.out).outcome(), v1::OUTCOME_INVALID_SOURCE);
}

TEST_F(SearchTest, EvalWithoutAWorkerSaysWhatToDo) {
  cluster_.StartCoordinator();
  const CommandOutput output =
      cluster_.Cli({"eval", "--task", "softmax_rows_f32",
                    LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")});
  EXPECT_EQ(output.exit.code, 3);
  EXPECT_THAT(output.err, HasSubstr("ksearch-worker"));
}

}  // namespace
}  // namespace ksearch
