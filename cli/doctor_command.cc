#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/local/machine_facts.h"
#include "cli/text.h"
#include "common/textproto.h"
#include "google/protobuf/struct.pb.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

constexpr absl::Duration kReplyWithin = absl::Seconds(10);

struct Finding {
  // kNote: good to know; nothing is wrong.
  enum class Level { kOk, kNote, kFix };
  Level level;
  std::string what;
  std::string fix;  // empty unless there is something to do
};

Finding Ok(std::string what) { return {Finding::Level::kOk, std::move(what), ""}; }
Finding Note(std::string what, std::string fix = "") {
  return {Finding::Level::kNote, std::move(what), std::move(fix)};
}
Finding Fix(std::string what, std::string fix) {
  return {Finding::Level::kFix, std::move(what), std::move(fix)};
}

// What a worker on this machine would find. Nothing of this is needed where no worker is to run.
std::vector<Finding> ExamineThisMachine() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string here = absl::StrCat("this machine (", host, "): ");
  std::vector<Finding> findings;
  const MachineFacts machine = ExamineMachine(CurrentEnvironment());
  const auto tell = [&](const std::string& program, const std::string& path,
                        const std::string& package) {
    if (!path.empty()) {
      findings.push_back(Note(absl::StrCat(here, program, " is ", path)));
    } else {
      findings.push_back(
          Note(absl::StrCat(here, "no ", program),
               absl::StrCat("a worker here would need it: apt-get install ", package)));
    }
  };
  tell("g++", machine.gxx, "g++");
  tell("bwrap", machine.bubblewrap, "bubblewrap");
  const std::vector<std::string>& gpus = machine.gpus;
  const std::string& nvcc = machine.nvcc;
  if (gpus.empty()) {
    findings.push_back(
        Note(absl::StrCat(here, "no GPU", nvcc.empty() ? "" : absl::StrCat("; nvcc is ", nvcc))));
  } else if (nvcc.empty()) {
    findings.push_back(Note(absl::StrCat(here, absl::StrJoin(gpus, ", "), ", but no nvcc"),
                            "a worker here would need a CUDA toolkit (docs/gpu_workers.md)"));
  } else {
    findings.push_back(Note(absl::StrCat(here, absl::StrJoin(gpus, ", "), "; nvcc is ", nvcc)));
  }
  return findings;
}

std::vector<Finding> ExamineProviders(const v1::ServerFacts& facts) {
  std::vector<Finding> findings;
  if (facts.provider_facts().empty()) {
    return {Fix("no model provider", "add `providers { ... }` to the coordinator's config")};
  }
  for (const v1::ProviderFacts& provider : facts.provider_facts()) {
    const std::string who = absl::StrCat("provider ", provider.name(), ": ");
    if (!provider.unusable().empty()) {
      findings.push_back(Fix(absl::StrCat(who, provider.unusable()),
                             "fix it and start the coordinator again (docs/providers.md)"));
    } else if (provider.has_rests_for()) {
      findings.push_back(Fix(
          absl::StrCat(
              who, "no call is made for ",
              absl::FormatDuration(absl::Ceil(FromProto(provider.rests_for()), absl::Seconds(1))),
              " more, after failures or on the provider's request"),
          absl::StrCat("ksearch doctor --provider ", provider.name(), " says why")));
    } else {
      findings.push_back(Ok(absl::StrCat(
          who, "configured",
          provider.default_model().empty() ? ""
                                           : absl::StrCat(", model ", provider.default_model()),
          provider.embedding_model().empty()
              ? ""
              : absl::StrCat(", embeddings by ", provider.embedding_model()),
          "; not called (ksearch doctor --provider ", provider.name(), " makes one cheap call)")));
    }
  }
  return findings;
}

std::vector<Finding> ExamineSinks(const v1::ServerFacts& facts) {
  std::vector<Finding> findings;
  for (const v1::SinkFacts& sink : facts.sinks()) {
    const std::string who = absl::StrCat("sink ", sink.name(), ": ");
    findings.push_back(sink.fault().empty()
                           ? Ok(absl::StrCat(who, "writes to ", sink.folder()))
                           : Fix(absl::StrCat(who, sink.fault()),
                                 "make its folder writable, with free space; the sink tries again "
                                 "by itself and loses no events"));
  }
  return findings;
}

std::string LanguagesText(const v1::DeviceCapability& device) {
  std::vector<std::string> languages;
  for (const int language : device.languages()) {
    languages.push_back(LanguageText(static_cast<v1::Language>(language)));
  }
  return absl::StrJoin(languages, ", ");
}

Finding ExamineDevice(const std::string& worker, const v1::DeviceCapability& device) {
  const v1::DeviceFingerprint& facts = device.fingerprint();
  std::string what = absl::StrCat(worker, facts.name(), " (", facts.architecture(), ")");
  if (device.languages().empty()) {
    return Fix(absl::StrCat(what, ": it can build nothing"),
               "install a compiler on that machine; ksearch-worker --selftest says which");
  }
  absl::StrAppend(&what, device.build_only() ? ": only builds " : ": judges ",
                  LanguagesText(device));
  if (device.build_architectures_size() > 0) {
    absl::StrAppend(&what, "; its compiler builds for ",
                    absl::StrJoin(device.build_architectures(), ", "));
  }
  return Ok(what);
}

// One worker is one machine.
std::vector<Finding> ExamineWorker(const v1::WorkerStatus& worker) {
  const std::string who = absl::StrCat("worker ", worker.name(), ": ");
  const v1::IsolationLevel& level = worker.hello().isolation();
  const v1::DeviceHealth& health = worker.report().health();
  std::vector<Finding> findings;
  const std::string sandbox =
      absl::StrCat("sandbox ", level.backend(), ", cgroup ", level.cgroup());
  if (!health.healthy()) {
    findings.push_back(Fix(absl::StrCat(who, health.reason()),
                           "ksearch-worker --selftest on that machine says what it lacks"));
  } else if (!level.namespaces() || !level.seccomp()) {
    findings.push_back(Fix(absl::StrCat(who, "candidates are not sandboxed: ", sandbox),
                           "ksearch-worker --selftest on that machine says what it lacks"));
  } else {
    findings.push_back(Ok(absl::StrCat(who, "healthy, ", sandbox)));
  }
  for (const v1::DeviceCapability& device : worker.hello().devices()) {
    findings.push_back(ExamineDevice(who, device));
  }
  for (const v1::SickDevice& device : health.sick_devices()) {
    if (!health.healthy()) break;
    findings.push_back(
        Fix(absl::StrCat(who, device.device_id(), " takes no jobs: ", device.reason()),
            "its other devices keep working; see the worker's log"));
  }
  return findings;
}

std::vector<Finding> ExamineTasks(const v1::ListTasksReply& tasks,
                                  const v1::ListWorkersReply& workers) {
  std::vector<Finding> findings;
  int usable = 0;
  std::map<int, int> by_language;  // usable tasks
  // Suites of other projects, many of whose problems are unusable as a rule.
  std::map<std::string, int> unusable_in;
  for (const v1::TaskSummary& task : tasks.tasks()) {
    if (!task.error().empty() && !task.suite().empty()) {
      ++unusable_in[task.suite()];
      continue;
    }
    if (!task.error().empty()) {
      findings.push_back(
          Fix(absl::StrCat("task ", task.name(), ": ", task.error()), "correct the file named"));
      continue;
    }
    ++usable;
    for (const int language : task.languages()) ++by_language[language];
  }
  findings.push_back(usable > 0
                         ? Ok(absl::StrCat(usable, " tasks"))
                         : Fix("no usable task", "set task_dirs in the coordinator's config"));
  for (const auto& [suite, count] : unusable_in) {
    findings.push_back(Note(absl::StrCat("suite ", suite, ": ", count, " tasks cannot be used"),
                            absl::StrCat("ksearch task ls --suite ", suite, " says why")));
  }
  for (const auto& entry : by_language) {
    const int language = entry.first;
    const int count = entry.second;
    const bool judged = std::any_of(
        workers.workers().begin(), workers.workers().end(), [&](const v1::WorkerStatus& worker) {
          return worker.connected() && worker.report().health().healthy() &&
                 std::any_of(worker.hello().devices().begin(), worker.hello().devices().end(),
                             [&](const v1::DeviceCapability& device) {
                               const auto& known = device.languages();
                               return !device.build_only() && std::find(known.begin(), known.end(),
                                                                        language) != known.end();
                             });
        });
    if (judged) continue;
    findings.push_back(
        Note(absl::StrCat("no worker judges ", LanguageText(static_cast<v1::Language>(language)),
                          " candidates, the language of ", CountText(count, "task"))));
  }
  return findings;
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
    return Fix(absl::StrCat(who, reply.status().message()),
               "is the coordinator running, and does it reach the provider?");
  }
  if (!reply->error().empty()) {
    // The message ends with the fix.
    const std::string& error = reply->error();
    const size_t fix = error.rfind("; ");
    if (fix == std::string::npos) {
      return Fix(who + error, "see docs/providers.md, \"First mistakes\"");
    }
    return Fix(who + error.substr(0, fix), error.substr(fix + 2));
  }
  return Ok(absl::StrCat(who, "model ", reply->model(), " answered in ",
                         absl::StrFormat("%.1f", reply->seconds()), " s, ", reply->input_tokens(),
                         " + ", reply->output_tokens(), " tokens (", reply->finish_reason(),
                         "): ", absl::StrReplaceAll(reply->text(), {{"\n", " "}})));
}

void Append(std::vector<Finding> more, std::vector<Finding>* findings) {
  for (Finding& finding : more) findings->push_back(std::move(finding));
}

std::vector<Finding> Examine(Client* client) {
  std::vector<Finding> findings;
  const auto facts = client->Call<v1::GetServerFactsRequest, v1::ServerFacts>(
      &Stub::GetServerFacts, v1::GetServerFactsRequest(), kReplyWithin);
  if (!facts.ok()) {
    findings.push_back(
        Fix(absl::StrCat("coordinator: ", std::string(facts.status().message())),
            "start it: ksearch up, and ask with --local; or ksearch-coordinator --config "
            "configs/coordinator.textproto"));
    Append(ExamineThisMachine(), &findings);
    return findings;
  }
  findings.push_back(
      Ok(absl::StrCat("coordinator ", facts->version(), " at ", client->address(), ", state in ",
                      facts->state_dir(), ", schema ", facts->schema_version())));
  Append(ExamineProviders(*facts), &findings);
  Append(ExamineSinks(*facts), &findings);
  if (facts->free_bytes() < facts->least_free_bytes()) {
    findings.push_back(
        Fix(absl::StrCat("the coordinator's disk is nearly full: ", facts->free_bytes(),
                         " bytes are free in ", facts->state_dir(), ", so nothing new is started"),
            "free some, or move old runs away: ksearch gc"));
  }
  const auto workers = client->ListWorkers(/*gone=*/false, kReplyWithin);
  const auto tasks = client->Call<v1::ListTasksRequest, v1::ListTasksReply>(
      &Stub::ListTasks, v1::ListTasksRequest(), kReplyWithin);
  for (const absl::Status& status : {workers.status(), tasks.status()}) {
    if (!status.ok()) {
      findings.push_back(Fix(std::string(status.message()), "see the coordinator's log"));
    }
  }
  if (workers.ok()) {
    int ready = 0;
    for (const v1::WorkerStatus& worker : workers->workers()) {
      if (!worker.connected()) continue;
      ready += worker.report().health().healthy() ? 1 : 0;
      Append(ExamineWorker(worker), &findings);
    }
    findings.push_back(ready > 0 ? Ok(absl::StrCat(CountText(ready, "worker"), " ready"))
                                 : Fix("no worker is ready",
                                       absl::StrCat("start one: ksearch-worker --coordinator ",
                                                    client->address())));
    if (tasks.ok()) Append(ExamineTasks(*tasks, *workers), &findings);
  }
  Append(ExamineThisMachine(), &findings);
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
    const bool ok = finding.level != Finding::Level::kFix;
    all_ok &= ok;
    if (options.json) {
      auto& fields = *json.add_values()->mutable_struct_value()->mutable_fields();
      fields["ok"].set_bool_value(ok);
      fields["finding"].set_string_value(finding.what);
      fields["fix"].set_string_value(finding.fix);
      continue;
    }
    const bool note = finding.level == Finding::Level::kNote;
    std::printf("%s  %s\n", !ok ? "FIX " : note ? "note" : "ok  ", finding.what.c_str());
    if (!finding.fix.empty()) std::printf("      -> %s\n", finding.fix.c_str());
  }
  if (options.json) PrintJson(json);
  return all_ok ? kExitOk : kExitConfig;
}

}  // namespace ksearch
