#ifndef KSEARCH_AUTOSCALER_FLEET_FLEET_PROVIDER_H_
#define KSEARCH_AUTOSCALER_FLEET_FLEET_PROVIDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ksearch {

// One worker that a provider was asked for, as the provider sees it.
struct Instance {
  enum class State {
    kPending,  // waits for a machine; costs nothing yet
    kRunning,  // on a machine, whether its worker is connected or not
    kFailed,   // will never run, for the reason in `note`
  };
  std::string id;  // also in the worker's hello; [A-Za-z0-9_.-]{1,64}
  State state = State::kPending;
  std::string note;  // why it waits or failed, in one line; may be empty
};

// The instances of one pool, whoever started them. Instances that have ended, or are shutting down
// as requested, are not listed.
struct Fleet {
  std::vector<Instance> instances;
  int coming = 0;  // asked for, without an id yet
  // Why those that come or are pending are kept from running by something that a person should look
  // at, in one line; empty: nothing is known.
  std::string fault;
};

// Starts and stops the workers of one pool. An error is one line in the provider's own words that
// names what a person can fix. Each call blocks for about a minute at most. Thread-compatible.
class FleetProvider {
 public:
  enum class Manner { kGently, kAtOnce };

  virtual ~FleetProvider() = default;
  virtual absl::StatusOr<Fleet> List() = 0;
  // Asks for `count` more. After an error some may still come: List knows.
  virtual absl::Status Start(int count) = 0;
  // This many of the pending workers are no longer wanted.
  virtual absl::Status Withdraw(int /*count*/) { return absl::OkStatus(); }
  // kGently: the worker is told to leave, and its instance ends by itself. One that is gone is no
  // error.
  virtual absl::Status Stop(const std::string& id, Manner manner) = 0;
  // What Start would do, as text for people (--dry-run).
  virtual std::string Plan() const = 0;
  // Where people find what an instance printed; may be empty. Of "": one of those started last.
  virtual std::string LogOf(const std::string& id) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_FLEET_PROVIDER_H_
