// Replays recorded conversations between a real Kubernetes API server and ksearch-autoscaler: the
// provider must send the recorded requests, and get the same results from the recorded replies.
// record_kubernetes.py made the files.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "autoscaler/fleet/kubernetes_fleet.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/autoscaler/fleet_steps.h"
#include "tests/fakes/fault_server.h"

namespace ksearch {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// One scenario of a recording: a pool, and steps, each {"step", "outcome", "exchanges"}.
struct Scenario {
  std::string name;
  std::string pool;   // a WorkerPool as textproto, without its provider
  json job_template;  // null: the Deployment ksearch-worker
  std::vector<json> steps;

  // Returns the result of a step: of the steps with this text, the one with this number.
  json OutcomeOf(const std::string& step, int number = 0) const {
    for (const json& one : steps) {
      if (one["step"] == step && number-- == 0) return one["outcome"];
    }
    ADD_FAILURE() << name << " has no step " << step;
    return json::object();
  }
};

std::vector<Scenario> Recorded() {
  const char* const source = std::getenv("KSEARCH_SOURCE_DIR");
  std::vector<Scenario> scenarios;
  if (source == nullptr) return scenarios;
  std::ifstream file(absl::StrCat(source, "/tests/autoscaler/kubernetes_recorded.jsonl"));
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text);
    if (line.contains("scenario")) {
      Scenario& scenario = scenarios.emplace_back();
      scenario.name = line["scenario"].get<std::string>();
      scenario.pool = line["pool"].get<std::string>();
      scenario.job_template = line["job_template"];
    } else if (line.contains("step")) {
      scenarios.back().steps.push_back(line);
    }
  }
  return scenarios;
}

const Scenario& Named(const std::string& name) {
  static const auto& scenarios = *new std::vector<Scenario>(Recorded());
  for (const Scenario& scenario : scenarios) {
    if (scenario.name == name) return scenario;
  }
  static const auto& none = *new Scenario();
  ADD_FAILURE() << "kubernetes_recorded.jsonl has no scenario " << name;
  return none;
}

// Answers the requests it expects, in their order, with what the real server answered.
class RecordedServer {
 public:
  RecordedServer() : server_([this](const std::string& request, int) { return Answer(request); }) {}

  std::string origin() const { return server_.origin(); }
  void Expect(const json& exchanges) {
    MutexLock lock(&mu_);
    exchanges_ = exchanges;
    next_ = 0;
  }
  // Requests of the recording that did not come.
  size_t missing() const {
    MutexLock lock(&mu_);
    return exchanges_.size() - next_;
  }

 private:
  Fault Answer(const std::string& request) {
    Fault fault;
    fault.bytes = HttpReply(500, "{}");
    const size_t head_end = request.find("\r\n\r\n");
    const std::string head = request.substr(0, head_end);
    const std::string body = request.substr(head_end + 4);
    MutexLock lock(&mu_);
    if (next_ == exchanges_.size()) {
      ADD_FAILURE() << "a request that was not recorded: " << request;
      return fault;
    }
    const json& expected = exchanges_[next_++];
    const std::string first = absl::StrCat(expected["method"].get<std::string>(), " ",
                                           expected["path"].get<std::string>(), " HTTP/1.1\r\n");
    EXPECT_EQ(request.substr(0, first.size()), first);
    EXPECT_THAT(head, HasSubstr("Authorization: Bearer a-token"));
    if (expected.contains("content_type")) {
      EXPECT_THAT(head, HasSubstr("Content-Type: " + expected["content_type"].get<std::string>()));
    }
    EXPECT_EQ(body.empty() ? json() : json::parse(body), expected["request"]) << first;
    fault.bytes = HttpReply(expected["status"].get<int>(), expected["reply"].dump(),
                            {"Content-Type: application/json"});
    return fault;
  }

  mutable Mutex mu_;
  json exchanges_ ABSL_GUARDED_BY(mu_) = json::array();
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;
  FaultServer server_;
};

class KubernetesRecordedTest : public ::testing::TestWithParam<std::string> {};

TEST_P(KubernetesRecordedTest, TheProviderSaysTheSameAgain) {
  const Scenario& scenario = Named(GetParam());
  ASSERT_THAT(scenario.steps, Not(IsEmpty()));
  RecordedServer server;
  const std::string folder = absl::StrCat(testing::TempDir(), "/kubernetes_recorded_", GetParam());
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/token") << "a-token\n";
  v1::WorkerPool pool;
  ASSERT_TRUE(ParseTextproto(scenario.pool, scenario.name, &pool).ok());
  pool.mutable_kubernetes()->set_api_server(server.origin());
  pool.mutable_kubernetes()->set_token_file(folder + "/token");
  pool.mutable_kubernetes()->set_name_space("ksearch");
  if (scenario.job_template.is_null()) {
    pool.mutable_kubernetes()->set_deployment("ksearch-worker");
  } else {
    std::ofstream(folder + "/job.json") << scenario.job_template.dump();
    pool.mutable_kubernetes()->set_job_template(folder + "/job.json");
  }
  auto provider = KubernetesFleet::Create(pool);
  ASSERT_TRUE(provider.ok()) << provider.status();
  FleetSteps steps(provider->get());
  for (const json& step : scenario.steps) {
    server.Expect(step["exchanges"]);
    EXPECT_EQ(steps.Do(step["step"].get<std::string>()), step["outcome"]) << step["step"];
    EXPECT_EQ(server.missing(), 0u) << step["step"];
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, KubernetesRecordedTest,
    ::testing::Values("deployment_grows_and_shrinks", "deployment_image_that_cannot_be_pulled",
                      "deployment_quota", "deployment_that_others_change", "deployment_denied",
                      "deployment_with_a_token_that_is_none", "deployment_that_is_deleted",
                      "jobs_start_and_end", "jobs_whose_pods_go_wrong", "jobs_without_pods",
                      "jobs_beyond_a_quota", "jobs_that_others_delete", "jobs_denied",
                      "jobs_that_the_server_does_not_understand", "jobs_that_are_invalid"),
    [](const auto& one) { return one.param; });

std::string Error(const json& outcome) { return outcome.value("error", ""); }

// Checks the contents of the recordings, so that new ones are complete.
TEST(KubernetesRecordingTest, EveryScenarioOfTheFileIsPlayed) {
  EXPECT_THAT(Recorded(), SizeIs(15));
}

TEST(KubernetesRecordingTest, APodThatFindsNoNodeSaysWhy) {
  for (const char* name : {"deployment_grows_and_shrinks", "jobs_start_and_end"}) {
    EXPECT_THAT(Named(name).OutcomeOf("list", 1).dump(), HasSubstr("Insufficient nvidia.com/gpu"));
  }
}

TEST(KubernetesRecordingTest, AQuotaThatIsUsedUpIsSaid) {
  EXPECT_THAT(Named("deployment_quota").OutcomeOf("list")["fault"].get<std::string>(),
              HasSubstr("exceeded quota: pods"));
  EXPECT_THAT(Named("jobs_without_pods").OutcomeOf("list")["fault"].get<std::string>(),
              HasSubstr("exceeded quota: pods"));
  EXPECT_THAT(Error(Named("jobs_beyond_a_quota").OutcomeOf("start 3")),
              HasSubstr("exceeded quota: jobs"));
}

TEST(KubernetesRecordingTest, WhatTheServerRefusesIsSaidInItsWords) {
  EXPECT_THAT(Error(Named("deployment_denied").OutcomeOf("start 1")),
              HasSubstr("cannot get resource \"deployments/scale\""));
  EXPECT_THAT(Error(Named("jobs_denied").OutcomeOf("start 2")),
              HasSubstr("cannot create resource \"jobs\""));
  EXPECT_THAT(Error(Named("deployment_with_a_token_that_is_none").OutcomeOf("list")),
              HasSubstr("401, Unauthorized"));
  EXPECT_THAT(Error(Named("deployment_that_is_deleted").OutcomeOf("list")),
              HasSubstr("\"ksearch-worker\" not found"));
  EXPECT_THAT(Error(Named("jobs_that_the_server_does_not_understand").OutcomeOf("start 1")),
              HasSubstr("quantities must match"));
  EXPECT_THAT(Error(Named("jobs_that_are_invalid").OutcomeOf("start 1")), HasSubstr("422"));
}

TEST(KubernetesRecordingTest, AConflictIsTriedAgainAndGivenUpInTheEnd) {
  const Scenario& scenario = Named("deployment_that_others_change");
  EXPECT_EQ(Error(scenario.OutcomeOf("start 1", 0)), "");
  EXPECT_THAT(Error(scenario.OutcomeOf("start 1", 1)), HasSubstr("409"));
  EXPECT_EQ(Error(scenario.OutcomeOf("stop 0")), "");  // its pod is gone
}

}  // namespace
}  // namespace ksearch
