// Tasks whose own programs are at fault, beside a healthy one, with the real programs; the same at
// full size, simulated: tests/coordinator/scheduler/poisoned_tasks_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr char kHealthy[] = "small_softmax_f32";

// By the name of the task: code put before the reference's return, and the evaluation's message.
struct Fault {
  std::string code;
  std::string message;
};

const std::map<std::string, Fault>& Faults() {
  static const auto* const faults = new std::map<std::string, Fault>{
      {"does_not_build", {"int undeclared = not_there;", "'not_there' was not declared"}},
      {"crashes", {"*static_cast<volatile int*>(nullptr) = 1;", "SIGSEGV"}},
      {"gives_nan", {"args->y[0] = NAN;", "output 'y' holds a NaN"}},
      {"hangs", {"for (volatile int i = 0;;) i = i + 1;", "the reference fails on workload"}},
      {"disagrees",
       {"static int calls = 0; args->y[0] += static_cast<float>(calls++);",
        "disagrees with itself"}},
  };
  return *faults;
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

class PoisonedTasksTest : public testing::Test {
 protected:
  PoisonedTasksTest() : tasks_(cluster_.folder() + "/tasks/cpu") {
    std::filesystem::create_directories(tasks_);
    Copy(kHealthy, "");
    for (const auto& [task, fault] : Faults()) Copy(task, fault.code);
  }

  // The small softmax under another name, with `code` before the end of its reference.
  void Copy(const std::string& name, const std::string& code) {
    const std::string from =
        LocalCluster::SourcePath(absl::StrCat("tests/integration/data/tasks/", kHealthy));
    const std::string to = absl::StrCat(tasks_, "/", name);
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
    for (const char* file : {"/definition.json", "/workloads.jsonl"}) {
      const std::string text = ReadText(to + file);
      std::ofstream(to + file) << absl::StrReplaceAll(text, {{kHealthy, name}});
    }
    const std::string reference = ReadText(to + "/reference.cpp");
    std::ofstream(to + "/reference.cpp")
        << absl::StrReplaceAll(reference, {{"  return 0;", absl::StrCat(code, "\n  return 0;")}});
  }
  // Waits until there are some jobs, or none.
  bool AwaitJobs(bool some) const {
    for (int tries = 0; tries < 500; ++tries) {
      if (NoJobs() != some) return true;
    }
    return false;
  }
  bool NoJobs() const {
    const CommandOutput listed = cluster_.Cli({"jobs", "--json"});
    EXPECT_EQ(listed.exit.code, 0) << listed.err;
    return listed.out.find("job_id") == std::string::npos;
  }
  // A distinct correct candidate.
  std::string Candidate(int number) {
    const std::string path = absl::StrCat(cluster_.folder(), "/candidate", number, ".cpp");
    std::ofstream(path) << ReadText(LocalCluster::SourcePath(absl::StrCat(
                               "tests/integration/data/tasks/", kHealthy, "/reference.cpp")))
                        << "// " << number << "\n";
    return path;
  }

  LocalCluster cluster_;
  const std::string tasks_;
};

TEST_F(PoisonedTasksTest, EndWithTheirMessageAndDisturbNobody) {
  cluster_.UseOwnDevice();
  cluster_.StartCoordinator("", cluster_.folder() + "/tasks");
  cluster_.StartWorker("w1");
  struct Evaluation {
    std::string task;
    std::string candidate;
    CommandOutput output;
  };
  std::vector<Evaluation> evaluations;
  for (int round = 0; round < 2; ++round) {
    for (const auto& [task, fault] : Faults()) {
      // Two that hang could have both slots, one after the other on the device.
      if (round == 0 || task != "hangs") evaluations.push_back({task, Candidate(round), {}});
    }
    evaluations.push_back({kHealthy, Candidate(round), {}});
  }
  std::vector<std::thread> clients;
  for (Evaluation& evaluation : evaluations) {
    clients.emplace_back([&] {
      evaluation.output =
          cluster_.Cli({"eval", "--task", evaluation.task, "--check", evaluation.candidate});
    });
  }
  for (std::thread& client : clients) client.join();
  for (const Evaluation& evaluation : evaluations) {
    SCOPED_TRACE(evaluation.task);
    const CommandOutput& output = evaluation.output;
    if (evaluation.task == kHealthy) {
      EXPECT_EQ(output.exit.code, 0) << output.out << output.err;
      continue;
    }
    EXPECT_EQ(output.exit.code, 3) << output.out << output.err;
    EXPECT_THAT(output.out, HasSubstr("task_error"));
    EXPECT_THAT(output.out, HasSubstr(Faults().at(evaluation.task).message));
  }
  // No fault was attributed to the worker.
  EXPECT_THAT(cluster_.Log("coordinator"), Not(HasSubstr("how=returned")));
  EXPECT_TRUE(NoJobs());
}

TEST_F(PoisonedTasksTest, AFaultIsKnownAfterARestartUntilTheTaskChanges) {
  const std::string faulty = "does_not_build";
  const std::string& message = Faults().at(faulty).message;
  const auto evaluate = [&](int candidate) {
    return cluster_.Cli({"eval", "--task", faulty, "--check", Candidate(candidate)});
  };
  cluster_.UseOwnDevice();
  cluster_.StartCoordinator("", cluster_.folder() + "/tasks");
  cluster_.StartWorker("w1");
  EXPECT_THAT(cluster_.Cli({"tasks"}).out, Not(HasSubstr("AT FAULT")));
  EXPECT_EQ(evaluate(1).exit.code, 3);
  cluster_.Kill("coordinator");
  cluster_.StartCoordinator("", cluster_.folder() + "/tasks");
  EXPECT_THAT(cluster_.Cli({"tasks"}).out, AllOf(HasSubstr("AT FAULT: "), HasSubstr(message)));
  EXPECT_THAT(cluster_.Cli({"tasks", "--json"}).out,
              AllOf(HasSubstr("\"fault\":"), HasSubstr(message)));
  // Another candidate has another job, which needs no worker to end.
  const CommandOutput again = evaluate(2);
  EXPECT_EQ(again.exit.code, 3);
  EXPECT_THAT(again.out, AllOf(HasSubstr(message), HasSubstr("found by an earlier job")));

  std::filesystem::copy_file(absl::StrCat(tasks_, "/", kHealthy, "/reference.cpp"),
                             absl::StrCat(tasks_, "/", faulty, "/reference.cpp"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(cluster_.Cli({"tasks"}).out, Not(HasSubstr("AT FAULT")));
  const CommandOutput mended = evaluate(2);
  EXPECT_EQ(mended.exit.code, 0) << mended.out << mended.err;
}

TEST_F(PoisonedTasksTest, ARivalThatFailsBesideACandidateIsNobodyElsesMatter) {
  cluster_.UseOwnDevice();
  cluster_.StartCoordinator("", cluster_.folder() + "/tasks");
  cluster_.StartWorker("w1");
  // Right in the few calls that are checked before the candidate starts.
  const std::string rival = cluster_.folder() + "/rival.cpp";
  std::ofstream(rival) << absl::StrReplaceAll(
      ReadText(Candidate(1)),
      {{"  return 0;", "static int calls = 0;\n  return ++calls > 100 ? 7 : 0;"}});
  const CommandOutput confirmed = cluster_.Cli(
      {"eval", "--task", kHealthy, "--confirm", "--rival", rival, Candidate(1), "--json"});
  EXPECT_EQ(confirmed.exit.code, 3) << confirmed.out << confirmed.err;
  EXPECT_THAT(confirmed.out,
              AllOf(HasSubstr("OUTCOME_TASK_ERROR"), HasSubstr("rival 'rival' fails"),
                    ContainsRegex("\"at_fault\": *\"rival\"")));
  // Neither the task nor the worker is blamed for it.
  EXPECT_THAT(cluster_.Cli({"tasks"}).out, Not(HasSubstr("AT FAULT")));
  EXPECT_EQ(cluster_.Cli({"eval", "--task", kHealthy, "--check", Candidate(2)}).exit.code, 0);
  EXPECT_THAT(cluster_.Log("coordinator"), Not(HasSubstr("how=returned")));
}

TEST_F(PoisonedTasksTest, JobsAreListedCancelledAndDroppedWithTheirClient) {
  cluster_.UseOwnDevice();
  cluster_.StartCoordinator("", cluster_.folder() + "/tasks");
  cluster_.StartWorker("w1");
  const auto start = [&](const std::string& seconds) {
    return std::thread([this, seconds] {
      RunProgram({"/usr/bin/timeout", seconds, cluster_.BinaryPath("ksearch"), "--coordinator",
                  cluster_.address(), "eval", "--task", "hangs", "--check", Candidate(7)});
    });
  };
  // The first job runs as long as the reference may take: its client disconnects before that.
  std::thread client = start("3");
  EXPECT_TRUE(AwaitJobs(true));
  const std::string listed = cluster_.Cli({"jobs"}).out;
  EXPECT_THAT(listed, HasSubstr("hangs"));
  EXPECT_THAT(listed, HasSubstr("1 client"));
  client.join();
  EXPECT_TRUE(AwaitJobs(false));
  EXPECT_THAT(cluster_.Log("coordinator"), HasSubstr("how=cancelled"));

  client = start("30");
  EXPECT_TRUE(AwaitJobs(true));
  const std::string jobs = cluster_.Cli({"jobs"}).out;
  const std::string job = jobs.substr(jobs.rfind('\n', jobs.size() - 2) + 1, 12);
  const CommandOutput cancelled = cluster_.Cli({"cancel", job});
  EXPECT_EQ(cancelled.exit.code, 0) << cancelled.err;
  EXPECT_THAT(cancelled.out, HasSubstr("cancelled " + job));
  client.join();
  EXPECT_TRUE(NoJobs());

  const CommandOutput unknown = cluster_.Cli({"cancel", "0123"});
  EXPECT_EQ(unknown.exit.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("no job 0123 waits or is at work"));
}

}  // namespace
}  // namespace ksearch
