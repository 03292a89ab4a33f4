#include "coordinator/views/evaluation_time.h"

#include <algorithm>
#include <vector>

#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {
namespace {

constexpr int kResultsRead = 200;
constexpr int kResultsCounted = 50;
// Starting the processes, the reference's outputs and the checks; measured as 0.5 to 0.7 s for
// small tasks on two processors.
constexpr absl::Duration kBeforeMeasuring = absl::Milliseconds(500);

}  // namespace

absl::Status FillEvaluationTime(Store& store, const FleetFacts& fleet, const TaskSuite& tasks,
                                v1::RunEstimate* estimate) {
  const v1::RunConfig& config = estimate->config();
  ASSIGN_OR_RETURN(const v1::Task task, tasks.Load(config.task()));
  absl::Duration sum;
  int counted = 0;
  ASSIGN_OR_RETURN(const std::vector<ResultRow> rows,
                   store.ListResults(config.task(), 0, kResultsRead));
  for (const ResultRow& row : rows) {
    if (row.spec.kind() != v1::JOB_KIND_SCREEN || counted == kResultsCounted) continue;
    ASSIGN_OR_RETURN(const auto result, store.ReadResult(row.job_id));
    if (!result.has_value() || !result->stage_times().has_device_held()) continue;
    sum += FromProto(result->stage_times().device_held());
    ++counted;
  }
  estimate->set_evaluations_recorded(counted);
  if (counted > 0) {
    *estimate->mutable_evaluation_time() = ToProto(sum / counted);
  } else {
    // Candidate and baseline, on each workload.
    const auto feedback =
        std::count_if(task.workloads().begin(), task.workloads().end(),
                      [](const v1::Workload& workload) { return !workload.held_out(); });
    *estimate->mutable_evaluation_time() = ToProto(
        kBeforeMeasuring + 2 * feedback * FromProto(config.measure().max_time_per_workload()));
  }
  Requirement requirement;
  requirement.device = task.device();
  requirement.languages = {config.language()};
  const std::vector<v1::WorkerStatus> workers = fleet.Workers();
  estimate->set_workers(static_cast<int>(
      std::count_if(workers.begin(), workers.end(), [&](const v1::WorkerStatus& worker) {
        return worker.connected() && CanRun(worker.hello(), requirement);
      })));
  return absl::OkStatus();
}

}  // namespace ksearch
