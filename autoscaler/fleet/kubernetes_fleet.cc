#include "autoscaler/fleet/kubernetes_fleet.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "autoscaler/fleet/program_call.h"
#include "common/access/client_access.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using nlohmann::json;

constexpr char kAccountFolder[] = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr char kPoolLabel[] = "ksearch-pool";
constexpr size_t kMaxTemplateBytes = 1 << 20;
constexpr int kKeepEndedJobsSeconds = 600;
constexpr int kPageSize = 500;
constexpr int kMostPages = 40;
// Somebody else may change the Deployment at the same time; its controller does for each pod.
constexpr int kMostTriesToScale = 5;
// What Kubernetes allows in a label's value and in a namespace's name, and in other names.
constexpr size_t kMostLabelBytes = 63;
constexpr size_t kMostNameBytes = 253;

// The member at the end of the path; null if there is none.
json At(const json& value, std::initializer_list<const char*> path) {
  const json* at = &value;
  for (const char* name : path) {
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &(*at)[name];
  }
  return *at;
}

std::string Text(const json& value, std::initializer_list<const char*> path) {
  const json at = At(value, path);
  return at.is_string() ? at.get<std::string>() : "";
}

int Number(const json& value, std::initializer_list<const char*> path) {
  const json at = At(value, path);
  return at.is_number_integer() ? at.get<int>() : 0;
}

json Items(const json& list) {
  const json items = At(list, {"items"});
  return items.is_array() ? items : json::array();
}

// Returns true if a container that waits for this reason will hardly start without help.
bool NeverStarts(const std::string& reason) {
  for (const char* word : {"ImagePullBackOff", "ErrImagePull", "InvalidImageName",
                           "ErrImageNeverPull", "CreateContainerConfigError",
                           "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}) {
    if (reason == word) return true;
  }
  return false;
}

// Percent-encodes `text` for a query string.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const unsigned char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.') {
      escaped += static_cast<char>(c);
    } else {
      constexpr char kHex[] = "0123456789ABCDEF";
      escaped += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return escaped;
}

bool IsKubernetesName(absl::string_view name, size_t most_bytes) {
  const auto is_end = [](unsigned char c) { return absl::ascii_isalnum(c); };
  return !name.empty() && name.size() <= most_bytes && is_end(name.front()) &&
         is_end(name.back()) && std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' || c == '.';
         });
}

json DeleteOptions(json options) {
  options["apiVersion"] = "v1";
  options["kind"] = "DeleteOptions";
  return options;
}

absl::StatusOr<json> ReadTemplate(const std::string& path) {
  const auto text = ReadFile(path, kMaxTemplateBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kubernetes.job_template: ", text.status().message()));
  }
  json job = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const json containers = At(job, {"spec", "template", "spec", "containers"});
  if (Text(job, {"kind"}) != "Job" || !containers.is_array() || containers.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kubernetes.job_template: ", path, " is no Job in JSON with a container"));
  }
  return job;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FleetProvider>> KubernetesFleet::Create(const v1::WorkerPool& pool) {
  const v1::KubernetesFleet& settings = pool.kubernetes();
  json job = nullptr;
  if (settings.what_case() == v1::KubernetesFleet::kJobTemplate) {
    ASSIGN_OR_RETURN(job, ReadTemplate(settings.job_template()));
    // The pool's name becomes part of the Jobs' names and labels.
    if (!IsKubernetesName(pool.name(), kMostLabelBytes)) {
      return absl::InvalidArgumentError(
          "name: a pool of Kubernetes Jobs needs 1 to 63 lowercase letters, digits, '-' and '.', "
          "with a letter or digit at both ends");
    }
  } else if (!IsKubernetesName(settings.deployment(), kMostNameBytes)) {
    return absl::InvalidArgumentError("kubernetes.deployment or .job_template: give one of them");
  }
  ApiClient::Options options;
  options.server = settings.api_server();
  options.token_file = settings.token_file();
  options.ca_file = settings.ca_file();
  std::string name_space = settings.name_space();
  const char* const host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* const port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (options.server.empty()) {
    if (host == nullptr || port == nullptr) {
      return absl::InvalidArgumentError(
          "kubernetes.api_server: give it outside of a pod (for example http://127.0.0.1:8001 of "
          "`kubectl proxy`)");
    }
    const std::string bare = host;
    options.server = absl::StrCat(
        "https://", absl::StrContains(bare, ":") ? absl::StrCat("[", bare, "]") : bare, ":", port);
    const std::string folder = kAccountFolder;
    if (options.token_file.empty()) options.token_file = folder + "/token";
    if (options.ca_file.empty()) options.ca_file = folder + "/ca.crt";
    if (name_space.empty()) {
      name_space = std::string(
          absl::StripAsciiWhitespace(ReadFile(folder + "/namespace", 1024).value_or("")));
    }
  }
  const bool plain = absl::StartsWith(options.server, "http://");
  if (!plain && !absl::StartsWith(options.server, "https://")) {
    return absl::InvalidArgumentError("kubernetes.api_server: must begin with https://");
  }
  if (plain && !IsLocalAddress(options.server.substr(7))) {
    return absl::InvalidArgumentError(
        "kubernetes.api_server: http:// is for loopback only; a network needs https://");
  }
  if (name_space.empty()) name_space = "default";
  if (!IsKubernetesName(name_space, kMostLabelBytes)) {
    return absl::InvalidArgumentError(
        "kubernetes.name_space: is not the name of a namespace; use lowercase letters, digits, "
        "'-' and '.'");
  }
  return std::unique_ptr<FleetProvider>(new KubernetesFleet(
      pool, std::move(name_space), ApiClient(std::move(options)), std::move(job)));
}

KubernetesFleet::KubernetesFleet(const v1::WorkerPool& pool, std::string name_space, ApiClient api,
                                 json job)
    : pool_(pool), name_space_(std::move(name_space)), api_(std::move(api)), job_(std::move(job)) {}

std::string KubernetesFleet::CorePath(const std::string& rest) const {
  return absl::StrCat("/api/v1/namespaces/", name_space_, "/", rest);
}

std::string KubernetesFleet::DeploymentPath(const std::string& rest) const {
  return absl::StrCat("/apis/apps/v1/namespaces/", name_space_, "/deployments/",
                      pool_.kubernetes().deployment(), rest);
}

std::string KubernetesFleet::JobsPath() const {
  return absl::StrCat("/apis/batch/v1/namespaces/", name_space_, "/jobs");
}

Instance InstanceOfPod(const json& pod) {
  Instance instance;
  instance.id = Text(pod, {"metadata", "name"});
  const std::string phase = Text(pod, {"status", "phase"});
  instance.state = phase == "Running"  ? Instance::State::kRunning
                   : phase == "Failed" ? Instance::State::kFailed
                                       : Instance::State::kPending;
  if (phase == "Failed") {
    instance.note = OneLine(
        absl::StrCat(Text(pod, {"status", "reason"}), " ", Text(pod, {"status", "message"})));
  }
  const json conditions = At(pod, {"status", "conditions"});
  for (const json& condition : conditions.is_array() ? conditions : json::array()) {
    if (Text(condition, {"type"}) == "PodScheduled" && Text(condition, {"status"}) == "False") {
      instance.note =
          OneLine(absl::StrCat(Text(condition, {"reason"}), ": ", Text(condition, {"message"})));
    }
  }
  const json containers = At(pod, {"status", "containerStatuses"});
  for (const json& container : containers.is_array() ? containers : json::array()) {
    const std::string reason = Text(container, {"state", "waiting", "reason"});
    if (!NeverStarts(reason)) continue;
    instance.state = Instance::State::kFailed;
    instance.note = OneLine(absl::StrCat(reason, ": ", Text(container, {"image"}), ": ",
                                         Text(container, {"state", "waiting", "message"})));
  }
  return instance;
}

absl::StatusOr<json> KubernetesFleet::Objects(const std::string& path, const std::string& query) {
  json all = json::array();
  std::string next;
  for (int page = 0; page < kMostPages; ++page) {
    ASSIGN_OR_RETURN(
        const json list,
        api_.Call("GET", absl::StrCat(path, "?", query, "&limit=", kPageSize,
                                      next.empty() ? "" : "&continue=", Escaped(next))));
    for (json& item : Items(list)) all.push_back(std::move(item));
    next = Text(list, {"metadata", "continue"});
    if (next.empty()) return all;
  }
  return absl::UnavailableError(
      absl::StrCat("GET ", path, ": more than ", kMostPages * kPageSize, " objects"));
}

absl::StatusOr<json> KubernetesFleet::Pods(const std::string& selector) {
  return Objects(CorePath("pods"), absl::StrCat("labelSelector=", Escaped(selector)));
}

absl::StatusOr<std::map<std::string, std::string>> KubernetesFleet::WarningsOfJobs() {
  ASSIGN_OR_RETURN(
      const json events,
      Objects(CorePath("events"),
              absl::StrCat("fieldSelector=", Escaped("involvedObject.kind=Job,type=Warning"))));
  std::map<std::string, std::pair<std::string, std::string>> newest;  // by Job: time, text
  for (const json& event : events) {
    std::string at = Text(event, {"lastTimestamp"});
    if (at.empty()) at = Text(event, {"metadata", "creationTimestamp"});
    auto& known = newest[Text(event, {"involvedObject", "name"})];
    if (at < known.first) continue;
    known = {std::move(at),
             OneLine(absl::StrCat(Text(event, {"reason"}), ": ", Text(event, {"message"})))};
  }
  std::map<std::string, std::string> warnings;
  for (auto& [job, warning] : newest) warnings[job] = std::move(warning.second);
  return warnings;
}

absl::StatusOr<Fleet> KubernetesFleet::ListDeployment() {
  ASSIGN_OR_RETURN(const json deployment, api_.Call("GET", DeploymentPath("")));
  std::vector<std::string> labels;
  const json selector = At(deployment, {"spec", "selector", "matchLabels"});
  if (selector.is_object()) {
    for (const auto& [name, value] : selector.items()) {
      if (value.is_string()) labels.push_back(absl::StrCat(name, "=", value.get<std::string>()));
    }
  }
  if (labels.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "deployment ", pool_.kubernetes().deployment(), " selects its pods by no matchLabels"));
  }
  ASSIGN_OR_RETURN(const json pods, Pods(absl::StrJoin(labels, ",")));
  Fleet fleet;
  for (const json& pod : pods) {
    if (!At(pod, {"metadata", "deletionTimestamp"}).is_null()) continue;
    Instance instance = InstanceOfPod(pod);
    // The Deployment replaces evicted pods.
    if (Text(pod, {"status", "phase"}) == "Failed" || !IsInstanceId(instance.id)) continue;
    fleet.instances.push_back(std::move(instance));
  }
  const json replicas = At(deployment, {"spec", "replicas"});
  fleet.coming = std::max(0, (replicas.is_number_integer() ? replicas.get<int>() : 1) -
                                 static_cast<int>(fleet.instances.size()));
  const json conditions = At(deployment, {"status", "conditions"});
  for (const json& condition : conditions.is_array() ? conditions : json::array()) {
    // For example, a quota is used up.
    if (Text(condition, {"type"}) == "ReplicaFailure" && Text(condition, {"status"}) == "True") {
      fleet.fault =
          OneLine(absl::StrCat(Text(condition, {"reason"}), ": ", Text(condition, {"message"})));
    }
  }
  return fleet;
}

absl::StatusOr<Fleet> KubernetesFleet::ListJobs() {
  const std::string selector = absl::StrCat(kPoolLabel, "=", pool_.name());
  ASSIGN_OR_RETURN(const json jobs,
                   Objects(JobsPath(), absl::StrCat("labelSelector=", Escaped(selector))));
  ASSIGN_OR_RETURN(const json pods, Pods(selector));
  std::map<std::string, Instance> pod_of;  // by Job
  std::set<std::string> ended;
  for (const json& pod : pods) {
    if (!At(pod, {"metadata", "deletionTimestamp"}).is_null()) continue;
    std::string job = Text(pod, {"metadata", "labels", "job-name"});
    if (job.empty()) job = Text(pod, {"metadata", "labels", "batch.kubernetes.io/job-name"});
    // The Job's own status follows later.
    if (Text(pod, {"status", "phase"}) == "Succeeded") ended.insert(job);
    pod_of[job] = InstanceOfPod(pod);
  }
  Fleet fleet;
  std::vector<size_t> without_pod;
  for (const json& job : jobs) {
    if (!At(job, {"metadata", "deletionTimestamp"}).is_null()) continue;
    if (Number(job, {"status", "succeeded"}) > 0 || Number(job, {"status", "failed"}) > 0) continue;
    Instance instance;
    instance.id = Text(job, {"metadata", "name"});
    if (!IsInstanceId(instance.id) || ended.contains(instance.id)) continue;
    if (const auto pod = pod_of.find(instance.id); pod != pod_of.end()) {
      instance.state = pod->second.state;
      instance.note = pod->second.note;
    } else {
      without_pod.push_back(fleet.instances.size());
    }
    fleet.instances.push_back(std::move(instance));
  }
  if (without_pod.empty()) return fleet;
  // A Job does not say itself why it has no pod, for example because a quota is used up.
  const auto warnings = WarningsOfJobs();
  for (const size_t index : without_pod) {
    Instance& instance = fleet.instances[index];
    if (!warnings.ok()) {
      instance.note = absl::StrCat("has no pod; why is not known: ", warnings.status().message());
    } else if (const auto it = warnings->find(instance.id); it != warnings->end()) {
      instance.note = it->second;
      fleet.fault = it->second;
    }
  }
  return fleet;
}

absl::StatusOr<Fleet> KubernetesFleet::List() { return of_jobs() ? ListJobs() : ListDeployment(); }

absl::Status KubernetesFleet::Rescale(absl::FunctionRef<int(int replicas)> wanted) {
  absl::Status status;
  for (int tries = 0; tries < kMostTriesToScale; ++tries) {
    ASSIGN_OR_RETURN(const json scale, api_.Call("GET", DeploymentPath("/scale")));
    const int replicas = Number(scale, {"spec", "replicas"});
    const int after = std::max(0, wanted(replicas));
    if (after == replicas) return absl::OkStatus();
    const json patch = {
        {"metadata", {{"resourceVersion", Text(scale, {"metadata", "resourceVersion"})}}},
        {"spec", {{"replicas", after}}}};
    status = api_.Call("PATCH", DeploymentPath("/scale"), patch, "application/merge-patch+json")
                 .status();
    if (!absl::IsAborted(status)) return status;
  }
  return status;
}

absl::Status KubernetesFleet::Start(int count) {
  if (!of_jobs()) {
    // No cap below what is there: somebody else may have set that.
    return Rescale(
        [&](int replicas) { return std::max(replicas, std::min(pool_.most(), replicas + count)); });
  }
  json job = job_;
  job["metadata"].erase("name");
  job["metadata"]["generateName"] = absl::StrCat(pool_.name(), "-");
  job["metadata"]["labels"][kPoolLabel] = pool_.name();
  json& pod = job["spec"]["template"];
  pod["metadata"]["labels"][kPoolLabel] = pool_.name();
  pod["spec"]["restartPolicy"] = "Never";
  job["spec"]["backoffLimit"] = 0;  // the autoscaler retries, not Kubernetes
  if (!job["spec"].contains("ttlSecondsAfterFinished")) {
    job["spec"]["ttlSecondsAfterFinished"] = kKeepEndedJobsSeconds;
  }
  json& environment = pod["spec"]["containers"][0]["env"];
  if (!environment.is_array()) environment = json::array();
  environment.push_back({{"name", "KSEARCH_POOL"}, {"value", pool_.name()}});
  environment.push_back(
      {{"name", "KSEARCH_INSTANCE"},
       {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.labels['job-name']"}}}}}});
  environment.push_back(
      {{"name", "KSEARCH_COORDINATOR"}, {"value", pool_.coordinator_for_workers()}});
  for (int i = 0; i < count; ++i) {
    RETURN_IF_ERROR(api_.Call("POST", JobsPath(), job).status());
  }
  return absl::OkStatus();
}

absl::Status KubernetesFleet::Withdraw(int count) {
  if (of_jobs()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Fleet fleet, ListDeployment());
  const int pods = static_cast<int>(fleet.instances.size());
  return Rescale(
      [&](int replicas) { return std::min(replicas, std::max(pods, replicas - count)); });
}

absl::Status KubernetesFleet::Stop(const std::string& id, Manner manner) {
  absl::Status status;
  if (of_jobs()) {
    status = api_.Call("DELETE", absl::StrCat(JobsPath(), "/", id),
                       DeleteOptions({{"propagationPolicy", "Background"}}))
                 .status();
  } else {
    // A Deployment that shrinks deletes the pod with the lowest deletion cost.
    status = api_.Call("PATCH", CorePath("pods/" + id),
                       {{"metadata",
                         {{"annotations",
                           {{"controller.kubernetes.io/pod-deletion-cost", "-2147483647"}}}}}},
                       "application/merge-patch+json")
                 .status();
    if (status.ok()) status = Rescale([](int replicas) { return replicas - 1; });
    if (status.ok() && manner == Manner::kAtOnce) {
      status =
          api_.Call("DELETE", CorePath("pods/" + id), DeleteOptions({{"gracePeriodSeconds", 0}}))
              .status();
    }
  }
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

std::string KubernetesFleet::Plan() const {
  if (!of_jobs()) {
    return absl::StrCat("PATCH ", DeploymentPath("/scale"), " {\"spec\":{\"replicas\":N}}\n");
  }
  return absl::StrCat("POST ", JobsPath(), "\n", job_.dump(2), "\n");
}

std::string KubernetesFleet::LogOf(const std::string& id) const {
  if (id.empty()) return "";
  return absl::StrCat("kubectl logs --namespace ", name_space_, of_jobs() ? " job/" : " ", id);
}

}  // namespace ksearch
