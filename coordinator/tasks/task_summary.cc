#include "coordinator/tasks/task_summary.h"

namespace ksearch {

v1::TaskSummary SummarizeTask(const v1::Task& task) {
  v1::TaskSummary summary;
  summary.set_name(task.name());
  summary.set_title(task.title());
  summary.set_op_type(task.definition().op_type());
  summary.set_device(task.device());
  *summary.mutable_tags() = task.definition().tags();
  for (const v1::Sources& baseline : task.baselines()) {
    summary.add_languages(baseline.language());
  }
  summary.set_degenerate(task.degenerate());
  if (task.has_objective()) *summary.mutable_objective() = task.objective();
  int held_out = 0;
  for (const v1::Workload& workload : task.workloads()) held_out += workload.held_out() ? 1 : 0;
  summary.set_held_out_workloads(held_out);
  summary.set_feedback_workloads(task.workloads_size() - held_out);
  return summary;
}

}  // namespace ksearch
