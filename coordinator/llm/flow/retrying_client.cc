#include "coordinator/llm/flow/retrying_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "coordinator/llm/failure/billed_tries.h"
#include "coordinator/llm/failure/retry_after.h"

namespace ksearch {
namespace {

constexpr absl::string_view kCheck = "check";

// Another client may leave the gate without notice.
constexpr absl::Duration kLongestWait = absl::Seconds(1);
// A server that asks for a longer pause is worth a line in the log.
constexpr absl::Duration kParked = absl::Seconds(120);

absl::Status WithNote(const absl::Status& status, absl::string_view note) {
  absl::Status noted(status.code(), absl::StrCat(status.message(), note));
  status.ForEachPayload([&noted](absl::string_view name, const absl::Cord& payload) {
    noted.SetPayload(name, payload);
  });
  return noted;
}

// The pause that the provider asks for, if any.
std::optional<absl::Duration> AskedPause(const absl::StatusOr<LlmReply>& reply) {
  if (!reply.ok()) return GetRetryAfter(reply.status());
  if (reply->pause > absl::ZeroDuration()) return reply->pause;
  return std::nullopt;
}

AttemptEnd EndOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
      return AttemptEnd::kCancelled;
    case absl::StatusCode::kUnavailable:
      return IsThrottled(status) ? AttemptEnd::kThrottled : AttemptEnd::kFailed;
    case absl::StatusCode::kDeadlineExceeded:
      return AttemptEnd::kFailed;
    default:
      return AttemptEnd::kAnswered;
  }
}

}  // namespace

struct RetryingClient::Call {
  LlmRequest request;
  Done done;
  Backoff backoff;
  absl::Time deadline;  // SteadyNow scale
  absl::Time entered;   // when the call last entered the gate
  int attempts = 0;
  int costly_failures = 0;  // failures of the kinds that are retried once
  int billed_tries = 0;     // failed tries that may have been billed nevertheless
  absl::Status last = absl::OkStatus();
};

RetryingClient::RetryingClient(std::unique_ptr<LlmClient> inner, HttpTransport& timers,
                               const Clock& clock, RetryOptions options, GateOf gate_of,
                               uint64_t seed)
    : inner_(std::move(inner)),
      timers_(timers),
      clock_(clock),
      options_(options),
      gate_of_(std::move(gate_of)),
      seeds_(seed) {}

RetryingClient::~RetryingClient() = default;

absl::Duration RetryingClient::RestsFor(const std::string& model) {
  MutexLock lock(&mu_);
  Lane& lane = lanes_[model];
  if (lane.gate == nullptr) lane.gate = gate_of_(model);
  return lane.gate->RestsFor(clock_.SteadyNow());
}

void RetryingClient::Complete(LlmRequest request, Done done) {
  if (request.labels.purpose == kCheck) {
    const absl::Duration rest = RestsFor(request.model);
    if (rest > absl::ZeroDuration()) {
      std::string why;
      {
        MutexLock lock(&mu_);
        why = lanes_[request.model].last_failure;
      }
      return std::move(done)(absl::UnavailableError(absl::StrCat(
          "no call is made for ", absl::FormatDuration(absl::Ceil(rest, absl::Seconds(1))), " more",
          why.empty() ? ": the provider asked for a pause" : absl::StrCat(", after: ", why))));
    }
  }
  uint64_t seed;
  {
    MutexLock lock(&mu_);
    seed = seeds_.Next();
  }
  Enqueue(std::unique_ptr<Call>(
      new Call{.request = std::move(request),
               .done = std::move(done),
               .backoff = Backoff(options_.first_delay, options_.max_delay, seed),
               .deadline = clock_.SteadyNow() + options_.call_deadline,
               .entered = {}}));
}

void RetryingClient::Enqueue(std::unique_ptr<Call> call) {
  const std::string model = call->request.model;
  {
    MutexLock lock(&mu_);
    Lane& lane = lanes_[model];
    if (lane.gate == nullptr) lane.gate = gate_of_(model);
    lane.waiting.push_back(std::move(call));
  }
  Pump(model);
}

void RetryingClient::Pump(const std::string& model) {
  while (true) {
    std::unique_ptr<Call> call;
    absl::Duration wait;
    {
      MutexLock lock(&mu_);
      Lane& lane = lanes_[model];
      if (lane.waiting.empty()) return;
      const absl::Time now = clock_.SteadyNow();
      wait = lane.gate->TryEnter(now);
      const bool too_late =
          wait == absl::InfiniteDuration() ? false : now + wait > lane.waiting.front()->deadline;
      if (wait == absl::ZeroDuration()) ++lane.in_flight;
      if (wait > absl::ZeroDuration() && !too_late) {
        // This client's own calls wake it when they end.
        if (lane.timer_set || (wait == absl::InfiniteDuration() && lane.in_flight > 0)) return;
        lane.timer_set = true;
      } else {
        call = std::move(lane.waiting.front());
        lane.waiting.pop_front();
        call->entered = now;
      }
    }
    if (call == nullptr) {
      return timers_.RunAfter(std::min(wait, kLongestWait), [this, model](absl::Status status) {
        {
          MutexLock lock(&mu_);
          lanes_[model].timer_set = false;
        }
        if (!status.ok()) return CancelWaiting(model, status);
        Pump(model);
      });
    }
    if (wait == absl::ZeroDuration()) {
      Start(std::move(call));
      continue;
    }
    absl::Status late = absl::UnavailableError(absl::StrCat(
        call->last.message(), call->last.ok() ? "" : "; ", "the provider must not be called for ",
        absl::FormatDuration(wait), ", longer than the call may wait (retry.call_deadline)"));
    SetBilledTries(&late, call->billed_tries);
    std::move(call->done)(std::move(late));
  }
}

void RetryingClient::CancelWaiting(const std::string& model, const absl::Status& status) {
  std::deque<std::unique_ptr<Call>> waiting;
  {
    MutexLock lock(&mu_);
    waiting.swap(lanes_[model].waiting);
  }
  for (auto& call : waiting) {
    std::move(call->done)(absl::Status(status.code(), status.message()));
  }
}

void RetryingClient::Start(std::unique_ptr<Call> call) {
  ++call->attempts;
  LlmRequest request = call->request;
  inner_->Complete(std::move(request),
                   [this, call = std::move(call)](absl::StatusOr<LlmReply> reply) mutable {
                     OnResult(std::move(call), std::move(reply));
                   });
}

void RetryingClient::OnResult(std::unique_ptr<Call> call, absl::StatusOr<LlmReply> reply) {
  const std::string model = call->request.model;
  const absl::Time now = clock_.SteadyNow();
  const std::optional<absl::Duration> asked = AskedPause(reply);
  {
    MutexLock lock(&mu_);
    Lane& lane = lanes_[model];
    --lane.in_flight;
    lane.gate->Leave(EndOf(reply.status()), call->entered, now);
    if (asked) lane.gate->CloseUntil(now + *asked);
    lane.last_failure = std::string(reply.status().message());
  }
  absl::Status status = reply.status();
  call->billed_tries += BilledTries(status);
  SetBilledTries(&status, call->billed_tries);
  if (status.ok()) {
    reply->billed_tries += call->billed_tries;
    std::move(call->done)(std::move(reply));
  } else if (IsCorrected(status)) {
    --call->attempts;
    return Enqueue(std::move(call));
  } else if (!MayRetry(call.get(), status)) {
    std::move(call->done)(
        call->attempts == 1
            ? status
            : WithNote(status, absl::StrCat(" (after ", call->attempts, " attempts)")));
  } else {
    absl::Duration delay = call->backoff.Next();
    // Spreads calls that were all asked for the same pause.
    if (asked && *asked > delay) delay = *asked + 0.1 * std::min(delay, *asked);
    if (now + delay > call->deadline) {
      std::move(call->done)(WithNote(
          status, absl::StrCat("; the next try would be in ", absl::FormatDuration(delay),
                               ", after the end of the call's time (retry.call_deadline)")));
    } else {
      LOG(WARNING) << "msg=\"model call failed, trying again\" purpose="
                   << call->request.labels.purpose << " node=" << call->request.labels.node_id
                   << " try=" << call->attempts << " delay=" << delay
                   << (asked && *asked > kParked ? " provider=parked" : "") << " error=\""
                   << status.message() << "\"";
      call->last = status;
      RetryAfter(std::move(call), delay);
    }
  }
  Pump(model);
}

void RetryingClient::RetryAfter(std::unique_ptr<Call> call, absl::Duration delay) {
  timers_.RunAfter(delay, [this, call = std::move(call)](absl::Status status) mutable {
    if (!status.ok()) return std::move(call->done)(std::move(status));
    Enqueue(std::move(call));
  });
}

bool RetryingClient::MayRetry(Call* call, const absl::Status& status) const {
  if (call->request.labels.purpose == kCheck) return false;
  if (call->attempts >= options_.max_attempts || IsFinal(status)) return false;
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return true;
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kDeadlineExceeded:
      return ++call->costly_failures <= 1;
    default:
      return false;
  }
}

}  // namespace ksearch
