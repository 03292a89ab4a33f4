#ifndef KSEARCH_AUTOSCALER_FLEET_FLEET_PROVIDER_H_
#define KSEARCH_AUTOSCALER_FLEET_FLEET_PROVIDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ksearch {

// One worker that was requested from a provider, in the provider's view.
struct Instance {
  enum class State {
    kPending,  // waiting for a machine; costs nothing yet
    kRunning,  // on a machine, whether or not its worker is connected
    kFailed,   // will never run; `note` says why
  };
  std::string id;  // as in the worker's hello; [A-Za-z0-9_.-]{1,64}
  State state = State::kPending;
  std::string note;  // why it is waiting or failed, in one line; may be empty
};

// The instances of one pool, whoever started them. Instances that have ended, or are shutting down
// as requested, are omitted.
struct Fleet {
  std::vector<Instance> instances;
  int coming = 0;  // requested, but without an id yet
  // A problem that keeps requested or pending instances from running and that a person should look
  // at, in one line; empty if none is known.
  std::string fault;
};

// Starts and stops the workers of one pool. An error is one line with the provider's own message
// that names what a person can fix. Each call blocks for about a minute at most. Thread-compatible.
class FleetProvider {
 public:
  enum class Manner { kGently, kAtOnce };

  virtual ~FleetProvider() = default;
  virtual absl::StatusOr<Fleet> List() = 0;
  // Requests `count` more instances. After an error some may still appear; List shows them.
  virtual absl::Status Start(int count) = 0;
  // Cancels the request for this many pending workers.
  virtual absl::Status Withdraw(int /*count*/) { return absl::OkStatus(); }
  // kGently: the worker is told to leave, and its instance then ends by itself. Not an error if the
  // instance no longer exists.
  virtual absl::Status Stop(const std::string& id, Manner manner) = 0;
  // Describes what Start would do, for --dry-run.
  virtual std::string Plan() const = 0;
  // Where to find the output of an instance; may be empty. For "": that of a recently started one.
  virtual std::string LogOf(const std::string& id) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_FLEET_PROVIDER_H_
