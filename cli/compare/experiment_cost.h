#ifndef KSEARCH_CLI_COMPARE_EXPERIMENT_COST_H_
#define KSEARCH_CLI_COMPARE_EXPERIMENT_COST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/experiment.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The estimate for one run of an arm on a task.
struct ArmEstimate {
  int arm = 0;  // index into Experiment.arms
  std::string task;
  v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED;
  int workloads = 0;  // including held-out ones
  v1::RunEstimate estimate;
};

// Computes the cost of the experiment from the estimates of each arm on each task. Pure.
v1::ExperimentCost CostOf(const v1::Experiment& experiment,
                          const std::vector<ArmEstimate>& estimates);

// INVALID_ARGUMENT names the budget that cannot be met: a cap below the reservation of a run's
// first call, or a limit of the whole experiment below its estimate.
absl::Status CheckBudgets(const v1::Experiment& experiment,
                          const std::vector<ArmEstimate>& estimates);

std::string CostText(const v1::Experiment& experiment, const v1::ExperimentCost& cost);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_EXPERIMENT_COST_H_
