#ifndef KSEARCH_COORDINATOR_ENGINE_MODEL_CALLER_H_
#define KSEARCH_COORDINATOR_ENGINE_MODEL_CALLER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/store/store.h"

namespace ksearch {

// Sends committed model calls and commits their replies. A reply becomes an arrival of its run, so
// nothing else needs to know when it came. Thread-safe.
class ModelCaller {
 public:
  struct Provider {
    std::string name;
    std::string default_model;
    std::unique_ptr<LlmClient> client;  // null: cannot be used, for this reason
    absl::Status unusable;
  };

  // Borrows store and clock. The destructor ends calls in flight; they stay unanswered in the store
  // and are sent again by the next life.
  ModelCaller(Store* store, const Clock& clock, std::vector<Provider> providers);
  ~ModelCaller();

  // FAILED_PRECONDITION names the providers there are; or why this one cannot be used.
  absl::StatusOr<std::string> DefaultModel(const std::string& provider) const;
  std::vector<std::string> ProviderNames() const;

  // Sends the call unless it is in flight already. The row must be committed.
  void Send(const LlmCallRow& call);

 private:
  // Shared with the store's completions, which may run after this object is gone.
  struct InFlight {
    Mutex mu;
    absl::flat_hash_set<std::string> call_ids ABSL_GUARDED_BY(mu);
    bool closing ABSL_GUARDED_BY(mu) = false;
  };

  void OnReply(LlmCallRow call, absl::StatusOr<LlmReply> reply);

  Store* const store_;
  const Clock& clock_;
  const std::shared_ptr<InFlight> in_flight_ = std::make_shared<InFlight>();
  // Constant after construction. Last: clients end their calls before the rest goes.
  std::vector<Provider> providers_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_MODEL_CALLER_H_
