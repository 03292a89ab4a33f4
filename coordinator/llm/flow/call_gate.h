#ifndef KSEARCH_COORDINATOR_LLM_FLOW_CALL_GATE_H_
#define KSEARCH_COORDINATOR_LLM_FLOW_CALL_GATE_H_

#include <map>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "common/mutex.h"

namespace ksearch {

// v1::FlowSettings with its defaults filled in.
struct GateOptions {
  int initial_concurrency = 4;
  int max_concurrency = 64;
  int answers_per_step = 10;  // consecutive responses after which one more call may be in flight
  int breaker_failures = 5;   // consecutive failures
  absl::Duration breaker_pause = absl::Seconds(30);
};

// How an attempt at a call ended, as an indication of the server's health.
enum class AttemptEnd {
  kAnswered,   // a reply, or a refusal that does not indicate a problem of the server
  kThrottled,  // too many calls: HTTP 429 or 529
  kFailed,     // no response, or one that reports a problem of the server
  kCancelled,  // by us; says nothing about the server
};

// Decides when a call may start. All calls to one model of one server under one key pass one gate.
// - Concurrency grows by one per `answers_per_step` answers, and is halved when the server says
// that
//   it is too much; calls started before the last halving do not halve it again.
// - After `breaker_failures` failures in a row nothing starts for `breaker_pause`; then one call is
//   let through, and its end decides.
// - While a server asks for a pause (Retry-After), nothing starts.
// Times are of one steady scale. Thread-safe.
class CallGate {
 public:
  explicit CallGate(GateOptions options);

  // Returns 0 if a call may start, which must be followed by Leave. Otherwise returns how long to
  // wait before asking again; infinite: until a call leaves.
  absl::Duration TryEnter(absl::Time now);
  void Leave(AttemptEnd end, absl::Time entered, absl::Time now);
  void CloseUntil(absl::Time when);

  // Returns how long no call will start because of failures or of the server's Retry-After; 0 if
  // calls may start.
  absl::Duration RestsFor(absl::Time now) const;
  int limit() const;  // number of calls that may be in flight

 private:
  bool Tripped() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const GateOptions options_;
  mutable Mutex mu_;
  int limit_ ABSL_GUARDED_BY(mu_);
  int in_flight_ ABSL_GUARDED_BY(mu_) = 0;
  int answers_ ABSL_GUARDED_BY(mu_) = 0;
  int failures_ ABSL_GUARDED_BY(mu_) = 0;  // consecutive
  absl::Time shrunk_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time tripped_until_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time closed_until_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

// The gates of a process by name. Thread-safe.
class CallGates {
 public:
  // Returns the gate of this name. The options of the first caller apply.
  std::shared_ptr<CallGate> Named(const std::string& name, const GateOptions& options);

 private:
  Mutex mu_;
  std::map<std::string, std::shared_ptr<CallGate>> gates_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FLOW_CALL_GATE_H_
