#ifndef KSEARCH_COORDINATOR_ENGINE_WAITING_WATCH_H_
#define KSEARCH_COORDINATOR_ENGINE_WAITING_WATCH_H_

#include <functional>
#include <optional>
#include <string>

#include "coordinator/engine/model_caller.h"
#include "coordinator/engine/run_registry.h"

namespace ksearch {

// Tells when nothing more can happen until a person has answered, so that the process may exit: a
// restart continues from there. Thread-compatible.
class WaitingWatch {
 public:
  // Borrows both. `evaluations`: the number of queued or leased jobs, including those that belong
  // to no run.
  WaitingWatch(RunRegistry* runs, const ModelCaller* models, std::function<int()> evaluations)
      : runs_(runs), models_(models), evaluations_(std::move(evaluations)) {}

  // A line for people, without an end, if every active run waits for mailbox prompts alone and no
  // evaluation is in progress, or if no run is active now; nullopt if something may still
  // happen, or no run has been active in this process.
  std::optional<std::string> Check() const;

 private:
  RunRegistry* const runs_;
  const ModelCaller* const models_;
  const std::function<int()> evaluations_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_WAITING_WATCH_H_
