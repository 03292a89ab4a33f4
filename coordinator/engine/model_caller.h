#ifndef KSEARCH_COORDINATOR_ENGINE_MODEL_CALLER_H_
#define KSEARCH_COORDINATOR_ENGINE_MODEL_CALLER_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/fair_turns.h"
#include "common/mutex.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/store/store.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Sends committed model calls, a limited number at a time and in fair turns between runs, and
// commits the replies. A reply becomes an arrival of its run, so nothing else has to track it.
// Before a call is sent, that fact is committed, so that a reply lost with this process still
// counts as paid for. A reply that the store rejects (full disk) is kept and written again later,
// because it has been paid for. Thread-safe.
class ModelCaller {
 public:
  struct Provider {
    std::string name;
    std::string default_model;
    std::unique_ptr<LlmClient> client;  // null: cannot be used, for this reason
    absl::Status unusable;
    std::vector<std::string> recorded_order = {};  // of the run that it replays; empty: none
    // Its calls do not count against max_in_flight.
    bool unlimited = false;
    // Repeating a call costs nothing, so a call whose reply is lost need not count as spent.
    bool repeatable = false;
    v1::Platform recorded_platform = {};  // of the run that it replays
    v1::MemorySnapshot recorded_memory = {};
    std::string embedding_model = {};  // empty: it embeds nothing
  };
  struct Options {
    int max_in_flight = 16;  // for all providers together; further calls wait in a queue
    absl::Duration rewrite_every = absl::Seconds(1);
  };

  // Borrows store and clock. The destructor ends calls in flight; they stay unanswered in the store
  // and are sent again after a restart.
  ModelCaller(Store* store, const Clock& clock, std::vector<Provider> providers, Options options);
  ModelCaller(Store* store, const Clock& clock, std::vector<Provider> providers)
      : ModelCaller(store, clock, std::move(providers), Options()) {}
  ~ModelCaller();

  // Called when a call is sent, answered or has finally failed, on the thread where that happens;
  // must not block or call this object. Set it before the first Send.
  using CallListener = std::function<void(v1::FleetEvent)>;
  void SetCallListener(CallListener listener) { listener_ = std::move(listener); }

  // FAILED_PRECONDITION names the existing providers, or says why this one cannot be used.
  absl::StatusOr<std::string> DefaultModel(const std::string& provider) const;
  // The provider's embedding model. Empty if it has none, or if there is no such provider.
  std::string EmbeddingModel(const std::string& provider) const;
  std::vector<std::string> ProviderNames() const;
  // What is known about each provider, without a call.
  std::vector<v1::ProviderFacts> Facts() const;
  // The order in which a run that uses this provider processes arrivals; empty: as they come.
  std::vector<std::string> RecordedOrder(const std::string& provider) const;
  // The platform with which the results of that run were measured, which its repetition requests
  // again. Empty in recordings by older versions.
  v1::Platform RecordedPlatform(const std::string& provider) const;
  // What that run read from the memory of gains; empty if it read nothing.
  v1::MemorySnapshot RecordedMemory(const std::string& provider) const;

  // Ids of calls sent that wait for people (LlmClient::ParkedCalls).
  absl::flat_hash_set<std::string> ParkedCalls() const;

  // One cheap call outside any run, which is not recorded. `done` runs once, on the client's thread
  // or this one; errors as of DefaultModel and LlmClient.
  void Check(const std::string& provider, const std::string& model, LlmClient::Done done);

  // Sends the call unless this process has sent it already. The row must be committed. Its cost is
  // settled by `price`.
  void Send(const LlmCallRow& call, const v1::ResolvedPrice& price);
  // Returns true if this process has sent the call and not taken it back: its reply will come.
  bool Knows(const std::string& call_id) const;
  // RunConfig.priority: the run's share of the calls in flight while others wait. Default 10.
  void SetPriority(const std::string& run_id, int priority);
  // Removes the run's calls that are still in the queue; they may be passed to Send again.
  void Forget(const std::string& run_id);

 private:
  struct Call {
    LlmCallRow row;
    v1::ResolvedPrice price;
    Turn turn = {};
  };
  // Shared with the store's completions, which may run after this object is destroyed.
  struct Shared {
    Mutex mu;  // before a client's own locks
    CondVar changed;
    // Sent by this process. Never removed: a caller that found a call unanswered in the store may
    // send it after its reply has come.
    absl::flat_hash_set<std::string> sent ABSL_GUARDED_BY(mu);
    std::deque<Call> waiting ABSL_GUARDED_BY(mu);
    int in_flight ABSL_GUARDED_BY(mu) = 0;
    FairTurns turns ABSL_GUARDED_BY(mu);
    int noting ABSL_GUARDED_BY(mu) = 0;  // of those: the store is recording that they are sent
    std::vector<LlmCallRow> unwritten ABSL_GUARDED_BY(mu);  // refused by the store; retried
    bool closing ABSL_GUARDED_BY(mu) = false;
  };

  LlmClient* ClientOf(const std::string& provider) const;
  // Why the call cannot be made at all; OK if it can.
  absl::Status Refusal(const LlmCallRow& call) const;
  const Provider* Find(const std::string& provider) const;
  // The next call of the queue, among those that may start now; end() if none may.
  std::deque<Call>::iterator NextCall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared_->mu);
  // Starts queued calls while there is room.
  void StartWaiting() ABSL_LOCKS_EXCLUDED(shared_->mu);
  // Called when the note that the call is being sent was committed, or could not be.
  void OnNoted(const Call& call, const absl::Status& status);
  void OnReply(const Call& call, absl::StatusOr<LlmReply> reply);
  void Record(const Call& call, absl::StatusOr<LlmReply> reply);
  void Write(const LlmCallRow& answered);
  void RewriteLoop();
  void Tell(v1::FleetEvent::Kind kind, const LlmCallRow& call, const std::string& text) const;

  Store* const store_;
  const Clock& clock_;
  const Options options_;
  CallListener listener_;  // set before use
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  // Constant after construction.
  std::vector<Provider> providers_;
  std::thread rewriter_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_MODEL_CALLER_H_
