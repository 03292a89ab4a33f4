#include "coordinator/engine/feedback_workloads.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr int kMostNames = 20;

// `official`: only of workloads that are not held out.
std::string NamesOf(const v1::Task& task, bool official = false) {
  int count = 0;
  std::string names;
  for (const v1::Workload& workload : task.workloads()) {
    if (official && workload.held_out()) continue;
    if (++count > kMostNames) continue;
    absl::StrAppend(&names, count == 1 ? "" : ", ", workload.uuid());
  }
  if (count > kMostNames) absl::StrAppend(&names, " and ", count - kMostNames, " more");
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
  if (task->objective().ranked() == v1::Objective::RANKED_OFFICIAL) {
    const bool all_official = std::all_of(
        task->workloads().begin(), task->workloads().end(), [&](const v1::Workload& workload) {
          return workload.held_out() || chosen.contains(workload.uuid());
        });
    for (const v1::Workload& workload : task->workloads()) {
      if (!workload.held_out() || !chosen.contains(workload.uuid())) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "feedback_workloads: '", workload.uuid(), "' is not one of the official cases by which ",
          task->name(), " is ranked: ", NamesOf(*task, /*official=*/true)));
    }
    // Those that are official and not chosen count in confirmations, too.
    if (!all_official) task->mutable_objective()->set_ranked(v1::Objective::RANKED_ALL);
  }
  for (v1::Workload& workload : *task->mutable_workloads()) {
    workload.set_held_out(!chosen.contains(workload.uuid()));
  }
  return absl::OkStatus();
}

}  // namespace ksearch
