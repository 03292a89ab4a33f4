// The Kubernetes API, simulated by a loopback server with replies in the real one's form.
#include "autoscaler/fleet/kubernetes_fleet.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fault_server.h"

namespace ksearch {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Manner = FleetProvider::Manner;

constexpr char kDeployment[] = R"({
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "workers", "namespace": "kernels", "generation": 3, "resourceVersion": "211"},
  "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "ksearch-worker"}},
    "template": {"metadata": {"labels": {"app": "ksearch-worker"}},
      "spec": {"containers": [{"name": "worker", "image": "ksearch-worker:2"}]}}},
  "status": {"observedGeneration": 3, "replicas": 3, "readyReplicas": 1, "conditions": [
    {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
    {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
     "message": "pods \"workers-7c9-\" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, used: 3, limited: 3"}]}
})";

constexpr char kPods[] =
    R"({"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "214"}, "items": [
  {"metadata": {"name": "workers-7c9-aaaaa", "namespace": "kernels", "labels": {"app": "ksearch-worker"}},
    "spec": {"containers": [{"name": "worker", "image": "ksearch-worker:1"}], "nodeName": "gpu-1"},
    "status": {"phase": "Running", "containerStatuses": [{"name": "worker", "image": "ksearch-worker:1",
      "imageID": "", "ready": true, "restartCount": 0, "state": {"running": {}}}]}},
  {"metadata": {"name": "workers-7c9-bbbbb", "namespace": "kernels", "labels": {"app": "ksearch-worker"}},
    "spec": {"containers": [{"name": "worker", "image": "ksearch-worker:2"}]},
    "status": {"phase": "Pending",
      "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}]}},
  {"metadata": {"name": "workers-7c9-ccccc", "namespace": "kernels", "labels": {"app": "ksearch-worker"}},
    "spec": {"containers": [{"name": "worker", "image": "ksearch-worker:2"}], "nodeName": "gpu-2"},
    "status": {"phase": "Pending", "containerStatuses": [{"name": "worker", "image": "ksearch-worker:2",
      "imageID": "", "ready": false, "restartCount": 0, "state": {"waiting": {
        "reason": "ImagePullBackOff", "message": "Back-off pulling image \"ksearch-worker:2\""}}}]}},
  {"metadata": {"name": "workers-7c9-ddddd", "namespace": "kernels", "labels": {"app": "ksearch-worker"},
      "deletionTimestamp": "2026-01-01T00:00:00Z"},
    "spec": {"containers": [{"name": "worker", "image": "ksearch-worker:1"}], "nodeName": "gpu-3"},
    "status": {"phase": "Running"}}
]})";

constexpr char kScale[] = R"({"apiVersion": "autoscaling/v1", "kind": "Scale",
  "metadata": {"name": "workers", "namespace": "kernels", "resourceVersion": "211"},
  "spec": {"replicas": 4}, "status": {"replicas": 3, "selector": "app=ksearch-worker"}})";

constexpr char kScaled[] = R"({"apiVersion": "autoscaling/v1", "kind": "Scale",
  "metadata": {"name": "workers", "namespace": "kernels", "resourceVersion": "215"},
  "spec": {"replicas": 6}, "status": {"replicas": 3, "selector": "app=ksearch-worker"}})";

constexpr char kPod[] = R"({"apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "workers-7c9-aaaaa", "namespace": "kernels"},
  "spec": {"containers": [{"name": "worker", "image": "ksearch-worker:1"}]},
  "status": {"phase": "Running"}})";

constexpr char kJob[] = R"({"apiVersion": "batch/v1", "kind": "Job",
  "metadata": {"name": "h200-eeeee", "generateName": "h200-", "namespace": "kernels"},
  "spec": {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never",
    "containers": [{"name": "worker", "image": "ksearch-worker:1"}]}}}, "status": {}})";

// A Job of a list, with what is in its status.
json JobNamed(const std::string& name, const json& status) {
  json job = json::parse(kJob);
  job.erase("apiVersion");
  job.erase("kind");
  job["metadata"]["name"] = name;
  job["status"] = status;
  return job;
}

// The change that sets the replicas of kScale to this, unless somebody changed it.
json ScaleTo(int replicas) {
  return {{"metadata", {{"resourceVersion", "211"}}}, {"spec", {{"replicas", replicas}}}};
}

// The server's response when it refuses a request.
std::string Refusal(int code, const std::string& reason, const std::string& message) {
  return json{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::object()},
              {"status", "Failure"}, {"message", message}, {"reason", reason},
              {"code", code}}
      .dump();
}

class KubernetesFleetTest : public ::testing::Test {
 protected:
  KubernetesFleetTest()
      : token_(testing::TempDir() + "/kubernetes_fleet_test.token"),
        server_([this](const std::string& request, int) { return Answer(request); }) {
    std::ofstream(token_) << "first\n";
    pool_.set_name("h200");
    pool_.set_most(8);
    pool_.set_coordinator_for_workers("ksearch-coordinator:7400");
    v1::KubernetesFleet* settings = pool_.mutable_kubernetes();
    settings->set_api_server(server_.origin());
    settings->set_token_file(token_);
    settings->set_name_space("kernels");
    settings->set_deployment("workers");
  }
  ~KubernetesFleetTest() override {
    std::filesystem::remove(token_);
    WriteExchanges();
  }
  std::unique_ptr<FleetProvider> Make() { return KubernetesFleet::Create(pool_).value(); }

  // Sets the reply by the beginning of the request's first line; the latest setting counts.
  void On(const std::string& beginning, int status, const std::string& body) {
    MutexLock lock(&mu_);
    replies_.emplace(replies_.begin(), beginning,
                     HttpReply(status, body, {"Content-Type: application/json"}));
  }
  std::vector<std::string> Requests() {
    MutexLock lock(&mu_);
    return requests_;
  }
  // The bodies of the requests whose first line begins this way.
  std::vector<json> Bodies(const std::string& beginning) {
    std::vector<json> bodies;
    for (const std::string& request : Requests()) {
      if (!absl::StartsWith(request, beginning)) continue;
      bodies.push_back(json::parse(request.substr(request.find("\r\n\r\n") + 4)));
    }
    return bodies;
  }

  // Replies that the real server would not send are no example for check_exchanges.py.
  void ReplyWrongly() {
    MutexLock lock(&mu_);
    exchanges_.clear();
    replies_wrongly_ = true;
  }

  std::string token_;
  v1::WorkerPool pool_;

 private:
  // For check_exchanges.py: one line for each exchange.
  void WriteExchanges() {
    const char* const path = std::getenv("KSEARCH_EXCHANGES");
    if (path == nullptr) return;
    MutexLock lock(&mu_);
    std::ofstream file(path, std::ios::app);
    for (const json& exchange : exchanges_) file << exchange.dump() << "\n";
  }

  json ExchangeOf(const std::string& request, const std::string& reply) const {
    const auto body_of = [](const std::string& text) {
      const std::string body = text.substr(text.find("\r\n\r\n") + 4);
      return body.empty() ? json() : json::parse(body, nullptr, /*allow_exceptions=*/false);
    };
    const size_t method_end = request.find(' ');
    const size_t path_end = request.find(' ', method_end + 1);
    return {{"test", testing::UnitTest::GetInstance()->current_test_info()->name()},
            {"method", request.substr(0, method_end)},
            {"path", request.substr(method_end + 1, path_end - method_end - 1)},
            {"merges", absl::StrContains(request, "Content-Type: application/merge-patch+json")},
            {"request", body_of(request)},
            {"status", std::stoi(reply.substr(reply.find(' ') + 1, 3))},
            {"reply", body_of(reply)}};
  }

  Fault Answer(const std::string& request) {
    Fault fault;
    MutexLock lock(&mu_);
    requests_.push_back(request);
    for (const auto& [beginning, reply] : replies_) {
      if (absl::StartsWith(request, beginning)) {
        fault.bytes = reply;
        if (!replies_wrongly_) exchanges_.push_back(ExchangeOf(request, reply));
        return fault;
      }
    }
    fault.bytes = HttpReply(500, "{}");
    return fault;
  }

  Mutex mu_;
  std::vector<std::pair<std::string, std::string>> replies_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> requests_ ABSL_GUARDED_BY(mu_);
  std::vector<json> exchanges_ ABSL_GUARDED_BY(mu_);
  bool replies_wrongly_ ABSL_GUARDED_BY(mu_) = false;
  FaultServer server_;
};

constexpr char kDeploymentPath[] = "/apis/apps/v1/namespaces/kernels/deployments/workers";

TEST_F(KubernetesFleetTest, PodsOfADeploymentAreSeenWithWhatKeepsThem) {
  On(absl::StrCat("GET ", kDeploymentPath, " "), 200, kDeployment);
  On("GET /api/v1/namespaces/kernels/pods?labelSelector=app%3Dksearch-worker&limit=500 ", 200,
     kPods);
  const auto provider = Make();
  const auto fleet = provider->List();
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  ASSERT_EQ(fleet->instances.size(), 3u);
  EXPECT_EQ(fleet->instances[0].id, "workers-7c9-aaaaa");
  EXPECT_EQ(fleet->instances[0].state, Instance::State::kRunning);
  EXPECT_EQ(fleet->instances[1].state, Instance::State::kPending);
  EXPECT_THAT(fleet->instances[1].note, HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_EQ(fleet->instances[2].state, Instance::State::kFailed);
  EXPECT_THAT(fleet->instances[2].note, HasSubstr("ImagePullBackOff: ksearch-worker:2"));
  EXPECT_EQ(fleet->coming, 1);
  EXPECT_THAT(fleet->fault, HasSubstr("exceeded quota: gpus"));
  EXPECT_THAT(Requests()[0], HasSubstr("Authorization: Bearer first\r\n"));
  std::ofstream(token_) << "second\n";  // service accounts' tokens are renewed
  ASSERT_TRUE(provider->List().ok());
  EXPECT_THAT(Requests().back(), HasSubstr("Authorization: Bearer second\r\n"));
}

TEST_F(KubernetesFleetTest, ADeploymentGrowsUpToItsCapAndShrinksByTheOneThatIsMeant) {
  On(absl::StrCat("GET ", kDeploymentPath, " "), 200, kDeployment);
  On("GET /api/v1/namespaces/kernels/pods?", 200, kPods);
  On(absl::StrCat("GET ", kDeploymentPath, "/scale "), 200, kScale);
  On(absl::StrCat("PATCH ", kDeploymentPath, "/scale "), 200, kScaled);
  On("PATCH /api/v1/namespaces/kernels/pods/workers-7c9-aaaaa ", 200, kPod);
  On("DELETE /api/v1/namespaces/kernels/pods/workers-7c9-ccccc ", 200, kPod);
  On("PATCH /api/v1/namespaces/kernels/pods/workers-7c9-ccccc ", 200, kPod);
  On("PATCH /api/v1/namespaces/kernels/pods/gone ", 404,
     Refusal(404, "NotFound", "pods \"gone\" not found"));
  const auto fleet = Make();
  ASSERT_TRUE(fleet->Start(2).ok());
  ASSERT_TRUE(fleet->Start(20).ok());
  auto scales = Bodies(absl::StrCat("PATCH ", kDeploymentPath, "/scale "));
  ASSERT_EQ(scales.size(), 2u);
  EXPECT_EQ(scales[0], ScaleTo(6));
  EXPECT_EQ(scales[1], ScaleTo(8));
  ASSERT_TRUE(fleet->Stop("workers-7c9-aaaaa", Manner::kGently).ok());
  EXPECT_EQ(Bodies("PATCH /api/v1/namespaces/kernels/pods/workers-7c9-aaaaa ")
                [0]["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"],
            "-2147483647");
  scales = Bodies(absl::StrCat("PATCH ", kDeploymentPath, "/scale "));
  EXPECT_EQ(scales.back(), ScaleTo(3));
  EXPECT_THAT(Requests().back(), HasSubstr("Content-Type: application/merge-patch+json"));
  ASSERT_TRUE(fleet->Withdraw(1).ok());
  scales = Bodies(absl::StrCat("PATCH ", kDeploymentPath, "/scale "));
  EXPECT_EQ(scales.back(), ScaleTo(3));
  ASSERT_TRUE(fleet->Stop("workers-7c9-ccccc", Manner::kAtOnce).ok());
  EXPECT_EQ(Bodies("DELETE /api/v1/namespaces/kernels/pods/workers-7c9-ccccc ").size(), 1u);
  EXPECT_TRUE(fleet->Stop("gone", Manner::kGently).ok());
}

TEST_F(KubernetesFleetTest, JobsAreMadeFromTheTemplateAndToldWhoTheyAre) {
  const std::string path = testing::TempDir() + "/job.json";
  std::ofstream(path) << R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"},
    "spec": {"template": {"spec": {"containers": [{"name": "worker", "image": "ksearch-worker:1",
      "env": [{"name": "A", "value": "b"}]}]}}}})";
  pool_.mutable_kubernetes()->set_job_template(path);
  On("POST /apis/batch/v1/namespaces/kernels/jobs ", 201, kJob);
  const json jobs = {
      {"apiVersion", "batch/v1"},
      {"kind", "JobList"},
      {"metadata", {{"resourceVersion", "216"}}},
      {"items",
       {JobNamed("h200-aaaaa", {{"active", 1}, {"ready", 1}}),
        JobNamed("h200-bbbbb", {{"active", 1}}), JobNamed("h200-ccccc", {{"succeeded", 1}}),
        JobNamed("h200-ddddd", {{"failed", 1}})}}};
  On("GET /apis/batch/v1/namespaces/kernels/jobs?labelSelector=ksearch-pool%3Dh200&limit=500 ", 200,
     jobs.dump());
  json pods = json::parse(kPods);
  pods["items"].erase(pods["items"].begin() + 1, pods["items"].end());
  pods["items"][0]["metadata"]["labels"] = {{"job-name", "h200-aaaaa"}};
  On("GET /api/v1/namespaces/kernels/pods?labelSelector=ksearch-pool%3Dh200&limit=500 ", 200,
     pods.dump());
  On("DELETE /apis/batch/v1/namespaces/kernels/jobs/h200-aaaaa ", 200,
     R"({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
         "details": {"name": "h200-aaaaa", "group": "batch", "kind": "jobs"}})");
  const auto provider = Make();
  ASSERT_TRUE(provider->Start(2).ok());
  const auto made = Bodies("POST /apis/batch/v1/namespaces/kernels/jobs ");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0]["metadata"]["generateName"], "h200-");
  EXPECT_FALSE(made[0]["metadata"].contains("name"));
  EXPECT_EQ(made[0]["metadata"]["labels"]["ksearch-pool"], "h200");
  EXPECT_EQ(made[0]["spec"]["backoffLimit"], 0);
  EXPECT_EQ(made[0]["spec"]["template"]["spec"]["restartPolicy"], "Never");
  const json& environment = made[0]["spec"]["template"]["spec"]["containers"][0]["env"];
  ASSERT_EQ(environment.size(), 4u);
  EXPECT_EQ(environment[0]["name"], "A");
  EXPECT_EQ(environment[1], json::parse(R"({"name": "KSEARCH_POOL", "value": "h200"})"));
  EXPECT_EQ(environment[2]["valueFrom"]["fieldRef"]["fieldPath"], "metadata.labels['job-name']");
  const auto fleet = provider->List();
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  ASSERT_EQ(fleet->instances.size(), 2u);
  EXPECT_EQ(fleet->instances[0].state, Instance::State::kRunning);
  EXPECT_EQ(fleet->instances[1].state, Instance::State::kPending);
  ASSERT_TRUE(provider->Stop("h200-aaaaa", Manner::kGently).ok());
  EXPECT_EQ(
      Bodies("DELETE ")[0],
      json::parse(
          R"({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"})"));
}

TEST_F(KubernetesFleetTest, WhatTheServerRefusesIsSaid) {
  On("GET ", 403,
     Refusal(403, "Forbidden",
             "deployments.apps \"workers\" is forbidden: User \"system:serviceaccount:kernels:x\" "
             "cannot get resource \"deployments\" in API group \"apps\" in the namespace "
             "\"kernels\""));
  EXPECT_THAT(std::string(Make()->List().status().message()),
              HasSubstr("403, deployments.apps \"workers\" is forbidden"));
  // A namespace that is not there has no deployments.
  On("GET ", 404, Refusal(404, "NotFound", "deployments.apps \"workers\" not found"));
  EXPECT_TRUE(absl::IsNotFound(Make()->List().status()));
  On("GET ", 429, Refusal(429, "TooManyRequests", "the server has received too many requests"));
  EXPECT_TRUE(absl::IsUnavailable(Make()->List().status()));
}

TEST_F(KubernetesFleetTest, AJobBeyondTheQuotaIsRefusedAndTheRestAreNotTried) {
  const std::string path = testing::TempDir() + "/quota_job.json";
  std::ofstream(path) << kJob;
  pool_.mutable_kubernetes()->set_job_template(path);
  On("POST /apis/batch/v1/namespaces/kernels/jobs ", 403,
     Refusal(403, "Forbidden",
             "jobs.batch \"h200-f\" is forbidden: exceeded quota: gpus, requested: "
             "count/jobs.batch=1, used: count/jobs.batch=3, limited: count/jobs.batch=3"));
  const absl::Status status = Make()->Start(5);
  EXPECT_THAT(std::string(status.message()), HasSubstr("exceeded quota: gpus"));
  EXPECT_EQ(Bodies("POST ").size(), 1u);
}

TEST_F(KubernetesFleetTest, AScaleThatOthersKeepChangingIsTriedAgainLater) {
  On(absl::StrCat("GET ", kDeploymentPath, "/scale "), 200, kScale);
  On(absl::StrCat("PATCH ", kDeploymentPath, "/scale "), 409,
     Refusal(409, "Conflict",
             "Operation cannot be fulfilled on deployments.apps \"workers\": the object has been "
             "modified; please apply your changes to the latest version and try again"));
  EXPECT_THAT(std::string(Make()->Start(1).message()), HasSubstr("the object has been modified"));
  EXPECT_EQ(Bodies("PATCH ").size(), 5u);
}

TEST_F(KubernetesFleetTest, ADeploymentThatIsLargerThanThePoolIsNotCut) {
  On(absl::StrCat("GET ", kDeploymentPath, "/scale "), 200, kScale);
  pool_.set_most(3);
  EXPECT_TRUE(Make()->Start(1).ok());
  EXPECT_THAT(Bodies("PATCH "), IsEmpty());
}

TEST_F(KubernetesFleetTest, LongListsAreReadPageByPage) {
  const auto page = [](const std::string& name, const std::string& next) {
    json pods = json::parse(kPods);
    pods["items"].erase(pods["items"].begin() + 1, pods["items"].end());
    pods["items"][0]["metadata"]["name"] = name;
    if (!next.empty()) pods["metadata"]["continue"] = next;
    return pods.dump();
  };
  const std::string pods = "GET /api/v1/namespaces/kernels/pods?labelSelector=app%3Dksearch-worker";
  On(absl::StrCat("GET ", kDeploymentPath, " "), 200, kDeployment);
  On(pods + "&limit=500 ", 200, page("a", "eyJ2Ijo+/w=="));
  On(pods + "&limit=500&continue=eyJ2Ijo%2B%2Fw%3D%3D ", 200, page("b", "more"));
  On(pods + "&limit=500&continue=more ", 200, page("c", ""));
  const auto fleet = Make()->List();
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  ASSERT_EQ(fleet->instances.size(), 3u);
  EXPECT_EQ(fleet->instances[2].id, "c");
  // The server forgets where a list was after a while: nothing is known then.
  On(pods + "&limit=500&continue=more ", 410,
     Refusal(410, "Expired", "The provided continue parameter is too old"));
  EXPECT_THAT(std::string(Make()->List().status().message()), HasSubstr("too old"));
}

TEST_F(KubernetesFleetTest, AListThatNeverEndsIsAnError) {
  ReplyWrongly();
  On(absl::StrCat("GET ", kDeploymentPath, " "), 200, kDeployment);
  On("GET /api/v1/namespaces/kernels/pods?", 200,
     R"({"kind": "PodList", "metadata": {"continue": "again"}, "items": []})");
  EXPECT_THAT(std::string(Make()->List().status().message()), HasSubstr("more than 20000 objects"));
}

TEST_F(KubernetesFleetTest, AJobWithoutAPodSaysWhatItsNewestWarningSays) {
  const std::string path = testing::TempDir() + "/events_job.json";
  std::ofstream(path) << kJob;
  pool_.mutable_kubernetes()->set_job_template(path);
  const auto list = [](const char* kind, const json& items) {
    return json{{"apiVersion", kind == std::string("JobList") ? "batch/v1" : "v1"},
                {"kind", kind},
                {"metadata", {{"resourceVersion", "217"}}},
                {"items", items}}
        .dump();
  };
  const auto event = [](const std::string& job, const std::string& at, const std::string& said) {
    return json{{"metadata", {{"name", job + "." + at.substr(14, 2)}, {"namespace", "kernels"}}},
                {"involvedObject", {{"kind", "Job"}, {"namespace", "kernels"}, {"name", job}}},
                {"type", "Warning"},
                {"reason", "FailedCreate"},
                {"lastTimestamp", at},
                {"message", said}};
  };
  On("GET /apis/batch/v1/namespaces/kernels/jobs?", 200,
     list("JobList",
          {JobNamed("h200-aaaaa", json::object()), JobNamed("h200-bbbbb", json::object())}));
  On("GET /api/v1/namespaces/kernels/pods?", 200, list("PodList", json::array()));
  const std::string events =
      "GET "
      "/api/v1/namespaces/kernels/events?fieldSelector=involvedObject.kind%3DJob%2Ctype%3DWarning"
      "&limit=500 ";
  On(events, 200,
     list("EventList", {event("h200-aaaaa", "2026-01-01T00:02:00Z", "exceeded quota: gpus"),
                        event("h200-aaaaa", "2026-01-01T00:01:00Z", "exceeded quota: pods"),
                        event("other", "2026-01-01T00:03:00Z", "something else")}));
  const auto fleet = Make()->List();
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  EXPECT_EQ(fleet->instances[0].note, "FailedCreate: exceeded quota: gpus");
  EXPECT_EQ(fleet->instances[1].note, "");
  EXPECT_EQ(fleet->fault, "FailedCreate: exceeded quota: gpus");
  // Roles of before do not allow to read events.
  On(events, 403, Refusal(403, "Forbidden", "events is forbidden"));
  const auto without = Make()->List();
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_THAT(without->instances[0].note, HasSubstr("why is not known: GET"));
  EXPECT_THAT(without->instances[0].note, HasSubstr("events is forbidden"));
  EXPECT_EQ(without->fault, "");
}

TEST_F(KubernetesFleetTest, RepliesThatMakeNoSenseAreErrors) {
  ReplyWrongly();
  for (const char* body : {"", "[]", "{\"items\": 7", "null"}) {
    On("GET ", 200, body);
    EXPECT_FALSE(Make()->List().ok()) << body;
  }
}

TEST_F(KubernetesFleetTest, BadSettingsAreNamed) {
  const auto fault = [this] {
    return std::string(KubernetesFleet::Create(pool_).status().message());
  };
  v1::KubernetesFleet* settings = pool_.mutable_kubernetes();
  settings->set_api_server("ftp://x");
  EXPECT_THAT(fault(), HasSubstr("kubernetes.api_server"));
  settings->clear_api_server();
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_THAT(fault(), HasSubstr("outside of a pod"));
  settings->set_api_server("https://10.0.0.1");
  settings->set_deployment("../secrets/x");
  EXPECT_THAT(fault(), HasSubstr("kubernetes.deployment"));
  settings->set_deployment("workers");
  settings->set_name_space("Kernels");
  EXPECT_EQ(fault(),
            "kubernetes.name_space: is not the name of a namespace; use lowercase letters, digits, "
            "'-' and '.'");
  settings->set_job_template("/nowhere.json");
  EXPECT_THAT(fault(), HasSubstr("/nowhere.json"));
  // The name becomes a label's value, which Kubernetes would refuse for each Job.
  const std::string path = testing::TempDir() + "/named_job.json";
  std::ofstream(path) << kJob;
  settings->set_name_space("kernels");
  settings->set_job_template(path);
  for (const std::string& name :
       {std::string("-h200"), std::string("h200."), std::string("H200"), std::string(64, 'h')}) {
    pool_.set_name(name);
    EXPECT_THAT(fault(), HasSubstr("name: a pool of Kubernetes Jobs")) << name;
  }
  pool_.set_name(std::string(63, 'h'));
  EXPECT_EQ(fault(), "");
}

}  // namespace
}  // namespace ksearch
