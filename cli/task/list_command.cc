#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/task/fault_line.h"
#include "cli/text.h"
#include "common/guard_factor.h"
#include "common/kernel_header.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

bool Asked(const v1::TaskSummary& task, const Options& options) {
  if (!options.suite.empty() && task.suite() != options.suite) return false;
  if (!options.tag.empty() &&
      std::find(task.tags().begin(), task.tags().end(), options.tag) == task.tags().end()) {
    return false;
  }
  return options.task.empty() || task.name() == options.task;
}

std::string DeviceText(const v1::TaskSummary& task) {
  return task.device() == v1::DEVICE_CLASS_CUDA ? "cuda" : "cpu";
}

std::string LanguagesText(const v1::TaskSummary& task) {
  return absl::StrJoin(task.languages(), ",", [](std::string* out, int language) {
    absl::StrAppend(out, LanguageText(static_cast<v1::Language>(language)));
  });
}

// A note on the task, in one line.
std::string NoteText(const v1::TaskSummary& task) {
  if (!task.error().empty()) return absl::StrCat("UNUSABLE: ", FaultLine(task.error()));
  if (!task.fault().empty()) return absl::StrCat("AT FAULT: ", FaultLine(task.fault()));
  if (!task.degenerate().empty()) return absl::StrCat("DEGENERATE: ", task.degenerate());
  return task.title();
}

std::string ListText(const v1::ListTasksReply& reply) {
  const auto any = [&](auto has) {
    return std::any_of(reply.tasks().begin(), reply.tasks().end(), has);
  };
  const bool levels = any([](const v1::TaskSummary& task) { return !task.level().empty(); });
  const bool left_out = any([](const v1::TaskSummary& task) { return task.left_out_size() > 0; });
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::string name, std::string level, std::string device,
                       std::string languages, std::string workloads, std::string held_out,
                       std::string out, std::string title) {
    std::vector<std::string> row = {std::move(name)};
    if (levels) row.push_back(std::move(level));
    for (std::string* cell : {&device, &languages, &workloads, &held_out}) {
      row.push_back(std::move(*cell));
    }
    if (left_out) row.push_back(std::move(out));
    row.push_back(std::move(title));
    rows.push_back(std::move(row));
  };
  add("task", "level", "device", "languages", "workloads", "held out", "left out", "title");
  for (const v1::TaskSummary& task : reply.tasks()) {
    add(task.name(), task.level(), DeviceText(task), LanguagesText(task),
        absl::StrCat(task.feedback_workloads()), absl::StrCat(task.held_out_workloads()),
        task.left_out_size() > 0 ? absl::StrCat(task.left_out_size()) : "", NoteText(task));
  }
  return Table(rows);
}

// "float32[rows, cols]"; "float32" for a scalar.
std::string TypeText(const v1::TensorSpec& tensor) {
  const std::string type(DTypeName(tensor.dtype()));
  return tensor.scalar() ? type : absl::StrCat(type, "[", absl::StrJoin(tensor.shape(), ", "), "]");
}

// The task as its programs see it: constant axes, inputs, outputs, and the workloads.
std::string DetailsText(const v1::TaskSummary& task) {
  std::vector<std::vector<std::string>> rows = {{"argument", "", "type", "description"}};
  for (const v1::Axis& axis : task.definition().axes()) {
    rows.push_back({axis.name(), "axis",
                    axis.has_const_value() ? absl::StrCat(axis.const_value()) : "by workload",
                    axis.description()});
  }
  for (const v1::TensorSpec& input : task.definition().inputs()) {
    rows.push_back({input.name(), "input", TypeText(input), input.description()});
  }
  for (const v1::TensorSpec& output : task.definition().outputs()) {
    rows.push_back({output.name(), "output", TypeText(output), output.description()});
  }
  std::string text = absl::StrCat("\n", Table(rows));
  rows = {{"workload", "axes", ""}};
  for (const v1::Workload& workload : task.workloads()) {
    rows.push_back({workload.uuid(),
                    absl::StrJoin(workload.axes(), " ",
                                  [](std::string* out, const v1::AxisValue& axis) {
                                    absl::StrAppend(out, axis.axis(), "=", axis.value());
                                  }),
                    workload.held_out() ? "held out" : ""});
  }
  absl::StrAppend(&text, "\n", Table(rows));
  return text;
}

std::string OneText(const v1::TaskSummary& task) {
  std::string text = absl::StrCat(task.name(), "  ", NoteText(task), "\n");
  if (absl::StrContains(task.fault(), '\n')) absl::StrAppend(&text, task.fault(), "\n");
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) absl::StrAppend(&text, "  ", name, "  ", value, "\n");
  };
  line("suite    ", task.suite());
  line("level    ", task.level());
  line("kind     ", task.op_type());
  line("device   ", DeviceText(task));
  line("languages", LanguagesText(task));
  line("workloads",
       absl::StrCat(task.feedback_workloads(), ", and ", task.held_out_workloads(), " held out"));
  if (task.objective().ranked() == v1::Objective::RANKED_OFFICIAL) {
    line("ranked   ", absl::StrCat("by its official workloads; held-out ones must be right, and at "
                                   "most ",
                                   *GuardFactorOf(task.objective(), /*held_out=*/true),
                                   " times slower than the rival"));
  }
  line("tags     ", absl::StrJoin(task.tags(), ", "));
  line("from     ", task.path());
  if (task.left_out_size() > 0) {
    absl::StrAppend(&text, "left out, ", task.left_out_size(), ":\n");
    for (const std::string& why : task.left_out()) absl::StrAppend(&text, "  ", why, "\n");
  }
  if (task.has_definition()) absl::StrAppend(&text, DetailsText(task));
  return text;
}

}  // namespace

int TasksCommand(Client* client, const Options& options) {
  v1::ListTasksRequest request;
  request.set_task(options.task);
  auto reply = client->Call<v1::ListTasksRequest, v1::ListTasksReply>(&Stub::ListTasks, request);
  if (!reply.ok()) return Fail(reply.status());
  auto* const tasks = reply->mutable_tasks();
  if (!options.suite.empty() &&
      std::none_of(tasks->begin(), tasks->end(),
                   [&](const v1::TaskSummary& task) { return task.suite() == options.suite; })) {
    return Fail(absl::NotFoundError(
        absl::StrCat("--suite: the coordinator has no suite '", options.suite, "' with a task")));
  }
  tasks->erase(std::remove_if(tasks->begin(), tasks->end(),
                              [&](const v1::TaskSummary& task) { return !Asked(task, options); }),
               tasks->end());
  if (!options.task.empty() && tasks->empty()) {
    return Fail(absl::NotFoundError(absl::StrCat("the coordinator lists no task '", options.task,
                                                 "'; `ksearch task ls` lists those it has")));
  }
  if (options.json) return PrintJson(*reply);
  if (options.task.empty()) {
    std::fputs(ListText(*reply).c_str(), stdout);
  } else {
    for (const v1::TaskSummary& task : *tasks) std::fputs(OneText(task).c_str(), stdout);
  }
  return kExitOk;
}

}  // namespace ksearch
