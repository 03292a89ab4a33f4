#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_CONFIG_RESOLVER_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_CONFIG_RESOLVER_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "coordinator/engine/model_caller.h"
#include "coordinator/engine/run_platform.h"
#include "coordinator/ledger/price_book.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/config.pb.h"

namespace ksearch {

// Turns the request for a run into its complete configuration. Thread-safe.
class RunConfigResolver {
 public:
  // As in RunRegistry::Parts.
  struct Parts {
    Store* store;
    ModelCaller* models;
    const TaskSuite* tasks;
    const Clock* clock;
    v1::RunConfig defaults;
    std::function<std::string(v1::DeviceClass, const std::string& model)> target_hardware;
    const PriceBook* prices;
    PlatformSource platforms;
  };
  explicit RunConfigResolver(Parts parts) : parts_(std::move(parts)) {}

  // The request with all defaults filled in, models and their prices looked up, a platform for its
  // scores as far as connected workers determine it, what it reads from the memory of gains, and
  // what it takes over from a run that it repeats or continues. Starts and stores nothing.
  // INVALID_ARGUMENT names the field. FAILED_PRECONDITION: a provider is unknown, or the run has a
  // limit on money and a price is unknown. NOT_FOUND: the earlier run does not exist.
  absl::StatusOr<v1::RunConfig> Complete(const v1::RunConfig& request) const;

 private:
  // Decides whether the run has programs embedded (ChooseEmbedding).
  absl::Status ResolveEmbedding(v1::RunConfig* config) const;
  // Fills in the models' names and what they cost.
  absl::Status ResolveModels(v1::RunConfig* config) const;
  // If the run repeats an earlier run or a recording, fills in what it repeats and returns true.
  // Otherwise fills in the platform. `device` is the task's, if known.
  absl::StatusOr<bool> Repeat(const v1::RunConfig& request, v1::DeviceClass device,
                              v1::RunConfig* config) const;

  const Parts parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_CONFIG_RESOLVER_H_
