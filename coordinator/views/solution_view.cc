#include "coordinator/views/solution_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// "python 3.11.2, torch 2.9.0, triton 3.5.0" names triton.
bool Names(const std::string& toolkit, const std::string& package) {
  return absl::StrContains(absl::StrCat(" ", toolkit), absl::StrCat(" ", package, " "));
}

std::vector<std::string> ToolkitsOf(const FleetFacts& fleet) {
  std::vector<std::string> toolkits;
  for (const v1::WorkerStatus& worker : fleet.Workers()) {
    if (!worker.connected()) continue;
    for (const v1::DeviceCapability& device : worker.hello().devices()) {
      for (const v1::LanguageToolkit& toolkit : device.toolkits()) {
        toolkits.push_back(toolkit.toolkit());
      }
    }
  }
  return toolkits;
}

}  // namespace

absl::StatusOr<v1::ListSolutionsReply> ViewSolutions(const TaskSuite& tasks,
                                                     const FleetFacts& fleet,
                                                     const std::string& task) {
  ASSIGN_OR_RETURN(std::vector<v1::SolutionSummary> solutions, tasks.Solutions(task));
  if (solutions.empty()) {
    // Suites without solutions do not report an unknown task: check it here.
    const absl::Status loaded = tasks.Load(task).status();
    if (absl::IsNotFound(loaded)) return loaded;
  }
  const std::vector<std::string> toolkits = ToolkitsOf(fleet);
  v1::ListSolutionsReply reply;
  for (v1::SolutionSummary& solution : solutions) {
    for (const std::string& package : solution.packages()) {
      if (!toolkits.empty() &&
          std::none_of(toolkits.begin(), toolkits.end(),
                       [&](const std::string& toolkit) { return Names(toolkit, package); })) {
        solution.add_missing(package);
      }
    }
    *reply.add_solutions() = std::move(solution);
  }
  return reply;
}

}  // namespace ksearch
