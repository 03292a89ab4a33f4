#include "cli/task/task_check.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/evaluation.h"
#include "cli/task/cheat_programs.h"
#include "cli/text.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "common/trusted_programs.h"
#include "coordinator/tasks/task_folder.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

// The language that the cheats are written in.
constexpr char kCheatLanguage[] = "python";

bool SameFolder(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

// The task, if coordinator and this command read the same one.
absl::StatusOr<v1::Task> FindTask(Client* client, const std::string& name_or_folder) {
  std::error_code error;
  std::string folder;
  std::string name = name_or_folder;
  if (std::filesystem::is_directory(name_or_folder, error)) {
    folder = std::filesystem::canonical(name_or_folder, error).string();
    name = std::filesystem::path(folder).filename().string();
  }
  ASSIGN_OR_RETURN(const v1::ListTasksReply tasks,
                   (client->Call<v1::ListTasksRequest, v1::ListTasksReply>(&Stub::ListTasks, {})));
  const auto found = std::find_if(tasks.tasks().begin(), tasks.tasks().end(),
                                  [&](const v1::TaskSummary& task) { return task.name() == name; });
  if (found == tasks.tasks().end()) {
    return absl::NotFoundError(
        absl::StrCat("the coordinator has no task '", name, "'; start it with --task-dir ",
                     folder.empty() ? "FOLDER" : folder.substr(0, folder.rfind('/')),
                     "; `ksearch task ls` lists those it has"));
  }
  if (!found->suite().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("task check is for tasks in folders of their own; '", name,
                     "' belongs to the suite '", found->suite(), "'"));
  }
  if (!found->error().empty()) return absl::InvalidArgumentError(found->error());
  if (!folder.empty() && !SameFolder(folder, found->path())) {
    return absl::FailedPreconditionError(absl::StrCat("the coordinator's task '", name,
                                                      "' is the one in ", found->path(),
                                                      ", not that in ", folder));
  }
  absl::StatusOr<v1::Task> task = LoadTaskFolder(found->path());
  if (!task.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the coordinator's folder of the task cannot be read here (task check needs it on this "
        "machine): ",
        task.status().message()));
  }
  return task;
}

// Whether tensors have elements in a workload.
bool HasElements(const v1::Definition& definition, const v1::Workload& workload,
                 const google::protobuf::RepeatedPtrField<v1::TensorSpec>& tensors) {
  const auto is_empty = [&](const std::string& name) {
    return std::any_of(workload.axes().begin(), workload.axes().end(),
                       [&](const v1::AxisValue& axis) {
                         return axis.axis() == name && axis.value() == 0;
                       }) ||
           std::any_of(
               definition.axes().begin(), definition.axes().end(), [&](const v1::Axis& axis) {
                 return axis.name() == name && axis.has_const_value() && axis.const_value() == 0;
               });
  };
  return std::any_of(tensors.begin(), tensors.end(), [&](const v1::TensorSpec& tensor) {
    return !tensor.scalar() && std::none_of(tensor.shape().begin(), tensor.shape().end(), is_empty);
  });
}

class Checker {
 public:
  Checker(Client* client, const v1::Task& task) : client_(client), task_(task) {}

  absl::StatusOr<TaskCheck> Run() {
    const LanguageFacts* const language = FindLanguage(absl::string_view(kCheatLanguage));
    const v1::Sources* honest = FindInLanguage(task_.references(), language->id);
    if (honest == nullptr) honest = FindInLanguage(task_.baselines(), language->id);
    if (honest == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "task ", task_.name(), " has no program in ", language->title,
          ", which the cheats are made of; add a baseline", language->main_extensions.front()));
    }
    RETURN_IF_ERROR(TryHonest("reference", task_.references(0)));
    RETURN_IF_ERROR(TryHonest("baseline", task_.baselines(0)));
    for (const CheatProgram& cheat : CheatPrograms(task_.definition(), *honest)) {
      RETURN_IF_ERROR(TryCheat(cheat));
    }
    return std::move(check_);
  }

 private:
  absl::StatusOr<v1::JobResult> Check(const std::string& label, const v1::Sources& sources,
                                      const std::vector<std::string>& workloads) {
    v1::EvaluateRequest request;
    request.set_task(task_.name());
    *request.mutable_sources() = sources;
    request.set_kind(v1::JOB_KIND_CHECK);
    request.mutable_workload_uuids()->Assign(workloads.begin(), workloads.end());
    ASSIGN_OR_RETURN(v1::JobResult result, Evaluate(client_, request, label + ": "));
    switch (result.outcome()) {
      case v1::OUTCOME_TASK_ERROR:
        return absl::FailedPreconditionError(
            absl::StrCat("task ", task_.name(), " is at fault: ", result.message()));
      case v1::OUTCOME_WORKER_LOST:
      case v1::OUTCOME_CANCELLED:
        return absl::UnavailableError(
            absl::StrCat("the check of '", label, "' was lost: ", result.message()));
      default:
        return result;
    }
  }

  absl::Status TryHonest(const std::string& name, const v1::Sources& sources) {
    std::vector<std::string> uuids;
    for (const v1::Workload& workload : task_.workloads()) uuids.push_back(workload.uuid());
    ASSIGN_OR_RETURN(const v1::JobResult result, Check(name, sources, uuids));
    TriedProgram tried;
    tried.name = name;
    tried.what = absl::StrCat("the task's own, in ", LanguageName(sources.language()));
    tried.good = result.outcome() == v1::OUTCOME_PASSED;
    tried.verdict = tried.good
                        ? absl::StrCat("passed on all ", uuids.size())
                        : absl::StrCat(OutcomeText(result.outcome()), ": ", result.message());
    check_.programs.push_back(std::move(tried));
    if (name == "baseline") check_.baseline = result;
    return absl::OkStatus();
  }

  absl::Status TryCheat(const CheatProgram& cheat) {
    TriedProgram tried;
    tried.name = cheat.name;
    tried.what = cheat.what;
    if (!cheat.missing.empty()) {
      tried.good = true;
      tried.verdict = absl::StrCat("not tried: ", cheat.missing);
      check_.programs.push_back(std::move(tried));
      return absl::OkStatus();
    }
    std::vector<std::string> passed;
    std::string broken;
    int tried_on = 0;
    for (const v1::Workload& workload : task_.workloads()) {
      // What follows from no element, or has none, is right whatever a program does.
      if (!HasElements(task_.definition(), workload, task_.definition().inputs()) ||
          !HasElements(task_.definition(), workload, task_.definition().outputs())) {
        continue;
      }
      ++tried_on;
      ASSIGN_OR_RETURN(
          const v1::JobResult result,
          Check(absl::StrCat(cheat.name, ", ", workload.uuid()), cheat.sources, {workload.uuid()}));
      if (result.outcome() == v1::OUTCOME_PASSED) {
        passed.push_back(workload.uuid());
      } else if (result.outcome() != v1::OUTCOME_INCORRECT &&
                 result.outcome() != v1::OUTCOME_CHEAT) {
        // Refused, but not for its answer: that says nothing about the tolerance.
        broken = absl::StrCat("could not be tried: ", OutcomeText(result.outcome()), ": ",
                              result.message());
        break;
      }
    }
    tried.good = passed.empty() && broken.empty();
    tried.verdict = !broken.empty()   ? broken
                    : !passed.empty() ? absl::StrCat("PASSES on ", absl::StrJoin(passed, ", "))
                    : tried_on < task_.workloads_size()
                        ? absl::StrCat("refused on the ", tried_on, " that are not empty")
                        : absl::StrCat("refused on all ", tried_on);
    check_.programs.push_back(std::move(tried));
    return absl::OkStatus();
  }

  Client* const client_;
  const v1::Task& task_;
  TaskCheck check_;
};

// Two digits.
std::string Short(double value) { return absl::StrFormat("%.2g", value); }

}  // namespace

bool TaskCheck::good() const {
  return std::all_of(programs.begin(), programs.end(),
                     [](const TriedProgram& program) { return program.good; });
}

std::string TaskCheckText(const v1::Task& task, const TaskCheck& check) {
  std::vector<std::vector<std::string>> rows = {{"program", "what it is", "verdict"}};
  for (const TriedProgram& program : check.programs) {
    rows.push_back({program.name, program.what, program.verdict});
  }
  std::string text = Table(rows);
  const v1::Tolerance& tolerance = task.tolerance();
  const bool measured = tolerance.rms_yardstick() > 0;
  rows = {{"workload", "held out", "largest error", "RMS error / yardstick"}};
  double absolute = 0, ratio = 0;
  for (const v1::WorkloadResult& result : check.baseline.workloads()) {
    const auto workload = std::find_if(
        task.workloads().begin(), task.workloads().end(),
        [&](const v1::Workload& known) { return known.uuid() == result.workload_uuid(); });
    const v1::Correctness& correctness = result.correctness();
    absolute = std::max(absolute, correctness.max_abs_error());
    ratio = std::max(ratio, correctness.rms_error_ratio());
    rows.push_back({result.workload_uuid(),
                    workload != task.workloads().end() && workload->held_out() ? "yes" : "",
                    Short(correctness.max_abs_error()),
                    measured ? Short(correctness.rms_error_ratio()) : "-"});
  }
  absl::StrAppend(&text, "\nthe baseline against the reference:\n", Table(rows));
  if (!measured) {
    absl::StrAppend(&text, "\nthe task has no rms_yardstick, so RMS errors are not known here\n");
  } else if (check.baseline.outcome() == v1::OUTCOME_PASSED) {
    absl::StrAppend(
        &text, "\nmeasured rms_yardstick: ", Short(ratio * tolerance.rms_yardstick()),
        " (the largest RMS error), in task.textproto: ", Short(tolerance.rms_yardstick()),
        "\nmeasured atol: ", Short(8 * absolute),
        " (8 times the largest error of one element), in task.textproto: ", Short(tolerance.atol()),
        "\n");
  }
  absl::StrAppend(&text, check.good()
                             ? "the task is good: honest programs pass, cheats are refused\n"
                             : "the task is NOT good: see the verdicts\n");
  return text;
}

absl::StatusOr<TaskCheck> CheckTask(Client* client, const std::string& name_or_folder,
                                    v1::Task* task) {
  ASSIGN_OR_RETURN(*task, FindTask(client, name_or_folder));
  return Checker(client, *task).Run();
}

}  // namespace ksearch
