#include "coordinator/engine/feedback_workloads.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr int kMostNames = 20;

std::string NamesOf(const v1::Task& task) {
  const int shown = std::min(task.workloads_size(), kMostNames);
  std::string names;
  for (int i = 0; i < shown; ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", task.workloads(i).uuid());
  }
  if (shown < task.workloads_size()) {
    absl::StrAppend(&names, " and ", task.workloads_size() - shown, " more");
  }
  return names;
}

}  // namespace

absl::Status ChooseFeedbackWorkloads(const v1::RunConfig& config, v1::Task* task) {
  if (config.feedback_workloads().empty()) return absl::OkStatus();
  absl::flat_hash_set<std::string> chosen;
  for (int i = 0; i < config.feedback_workloads_size(); ++i) {
    const std::string& uuid = config.feedback_workloads(i);
    const std::string field = absl::StrCat("feedback_workloads[", i, "]");
    if (std::none_of(task->workloads().begin(), task->workloads().end(),
                     [&](const v1::Workload& workload) { return workload.uuid() == uuid; })) {
      return absl::InvalidArgumentError(absl::StrCat(field, ": task ", task->name(),
                                                     " has no workload '", uuid, "'; it has ",
                                                     NamesOf(*task)));
    }
    if (!chosen.insert(uuid).second) {
      return absl::InvalidArgumentError(absl::StrCat(field, ": '", uuid, "' is named twice"));
    }
  }
  if (chosen.size() == static_cast<size_t>(task->workloads_size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("feedback_workloads: all ", chosen.size(),
                     " workloads of the task are named; leave out at least one, which is held out "
                     "and shows whether programs work beyond those that a search sees"));
  }
  for (v1::Workload& workload : *task->mutable_workloads()) {
    workload.set_held_out(!chosen.contains(workload.uuid()));
  }
  return absl::OkStatus();
}

}  // namespace ksearch
