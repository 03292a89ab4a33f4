#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/text.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "google/protobuf/struct.pb.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

struct Finding {
  bool ok;
  std::string what;
  std::string fix;  // empty when ok
};

Finding CheckProgram(const std::string& program, const std::string& package) {
  const auto path = FindOnPath(program);
  if (path.ok()) return {true, absl::StrCat(program, ": ", *path), ""};
  return {false, absl::StrCat(program, ": not on PATH"),
          absl::StrCat("a worker on this machine needs it: apt-get install ", package)};
}

// One call, which costs next to nothing.
Finding CheckProvider(Client* client, const Options& options) {
  v1::CheckProviderRequest request;
  request.set_provider(options.check_provider);
  request.set_model(options.check_model);
  const auto reply =
      client->Call<v1::CheckProviderRequest, v1::CheckProviderReply>(&Stub::CheckProvider, request);
  const std::string who = absl::StrCat("provider ", options.check_provider, ": ");
  if (!reply.ok()) {
    return {false, absl::StrCat(who, reply.status().message()),
            "is the coordinator running, and does it reach the provider?"};
  }
  if (!reply->error().empty()) {
    // The message ends with the fix.
    const std::string& error = reply->error();
    const size_t fix = error.rfind("; ");
    if (fix == std::string::npos) {
      return {false, who + error, "see docs/providers.md, \"First mistakes\""};
    }
    return {false, who + error.substr(0, fix), error.substr(fix + 2)};
  }
  return {true,
          absl::StrCat(who, "model ", reply->model(), " answered in ",
                       absl::StrFormat("%.1f", reply->seconds()), " s, ", reply->input_tokens(),
                       " + ", reply->output_tokens(), " tokens (", reply->finish_reason(),
                       "): ", absl::StrReplaceAll(reply->text(), {{"\n", " "}})),
          ""};
}

std::vector<Finding> Examine(Client* client) {
  std::vector<Finding> findings;
  findings.push_back(CheckProgram("g++", "g++"));
  findings.push_back(CheckProgram("bwrap", "bubblewrap"));
  const auto facts = client->Call<v1::GetServerFactsRequest, v1::ServerFacts>(
      &Stub::GetServerFacts, v1::GetServerFactsRequest());
  if (!facts.ok()) {
    findings.push_back({false, absl::StrCat("coordinator: ", facts.status().message()),
                        "start it: ksearch-coordinator --config configs/coordinator.textproto"});
    return findings;
  }
  findings.push_back(
      {true,
       absl::StrCat("coordinator ", facts->version(), " at ", client->address(), ", state in ",
                    facts->state_dir(), ", schema ", facts->schema_version()),
       ""});
  findings.push_back({facts->providers_size() > 0,
                      absl::StrCat("model providers: ", absl::StrJoin(facts->providers(), ", ")),
                      facts->providers_size() > 0 ? "" : "add `providers { ... }` to its config"});
  const auto workers = client->Call<v1::ListWorkersRequest, v1::ListWorkersReply>(
      &Stub::ListWorkers, v1::ListWorkersRequest());
  int ready = 0;
  if (workers.ok()) {
    for (const v1::WorkerStatus& worker : workers->workers()) {
      if (!worker.connected()) continue;
      const v1::IsolationLevel& level = worker.hello().isolation();
      const bool healthy = worker.report().health().healthy();
      ready += healthy ? 1 : 0;
      findings.push_back({healthy && level.namespaces() && level.seccomp(),
                          absl::StrCat("worker ", worker.name(), ": ",
                                       healthy ? "healthy" : worker.report().health().reason(),
                                       ", sandbox ", level.backend(), ", cgroup ", level.cgroup()),
                          healthy ? "" : "see the worker's log"});
      for (const v1::SickDevice& device : worker.report().health().sick_devices()) {
        if (!healthy) break;
        findings.push_back({false,
                            absl::StrCat("worker ", worker.name(), ": ", device.device_id(),
                                         " takes no jobs: ", device.reason()),
                            "its other devices go on; see the worker's log"});
      }
    }
  }
  findings.push_back(
      {ready > 0, absl::StrCat(ready, " workers ready"),
       ready > 0 ? ""
                 : absl::StrCat("start one: ksearch-worker --coordinator ", client->address())});
  const auto tasks = client->Call<v1::ListTasksRequest, v1::ListTasksReply>(&Stub::ListTasks,
                                                                            v1::ListTasksRequest());
  if (tasks.ok()) {
    for (const v1::TaskSummary& task : tasks->tasks()) {
      if (!task.error().empty()) {
        findings.push_back({false, absl::StrCat("task ", task.name(), ": ", task.error()),
                            "correct the file named"});
      }
    }
    findings.push_back(
        {tasks->tasks_size() > 0, absl::StrCat(tasks->tasks_size(), " tasks"),
         tasks->tasks_size() > 0 ? "" : "set task_dirs in the coordinator's config"});
  }
  return findings;
}

}  // namespace

int DoctorCommand(Client* client, const Options& options) {
  const std::vector<Finding> findings = options.check_provider.empty()
                                            ? Examine(client)
                                            : std::vector<Finding>{CheckProvider(client, options)};
  bool all_ok = true;
  google::protobuf::ListValue json;
  for (const Finding& finding : findings) {
    all_ok &= finding.ok;
    if (options.json) {
      auto& fields = *json.add_values()->mutable_struct_value()->mutable_fields();
      fields["ok"].set_bool_value(finding.ok);
      fields["finding"].set_string_value(finding.what);
      fields["fix"].set_string_value(finding.fix);
    } else {
      std::printf("%s  %s\n", finding.ok ? "ok  " : "FIX ", finding.what.c_str());
      if (!finding.fix.empty()) std::printf("      -> %s\n", finding.fix.c_str());
    }
  }
  if (options.json) PrintJson(json);
  return all_ok ? kExitOk : kExitConfig;
}

}  // namespace ksearch
