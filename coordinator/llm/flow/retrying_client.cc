#include "coordinator/llm/flow/retrying_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "coordinator/llm/provider/retry_after.h"

namespace ksearch {
namespace {

absl::Status WithNote(const absl::Status& status, absl::string_view note) {
  return absl::Status(status.code(), absl::StrCat(status.message(), note));
}

}  // namespace

RetryingClient::RetryingClient(std::unique_ptr<LlmClient> inner, HttpTransport& timers,
                               const Clock& clock, RetryOptions options, uint64_t seed)
    : inner_(std::move(inner)), timers_(timers), clock_(clock), options_(options), seeds_(seed) {}

void RetryingClient::Complete(LlmRequest request, Done done) {
  uint64_t seed;
  {
    MutexLock lock(&mu_);
    seed = seeds_.Next();
  }
  StartWhenAllowed(std::unique_ptr<Call>(
      new Call{.request = std::move(request),
               .done = std::move(done),
               .backoff = Backoff(options_.first_delay, options_.max_delay, seed)}));
}

void RetryingClient::StartWhenAllowed(std::unique_ptr<Call> call) {
  absl::Duration wait;
  {
    MutexLock lock(&mu_);
    wait = not_before_ - clock_.SteadyNow();
  }
  if (wait <= absl::ZeroDuration()) return Start(std::move(call));
  Wait(std::move(call), wait);
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
  if (reply.ok()) return std::move(call->done)(std::move(reply));
  const absl::Status& status = reply.status();
  const std::optional<absl::Duration> asked = GetRetryAfter(status);
  if (asked && *asked <= options_.max_retry_after) {
    MutexLock lock(&mu_);
    not_before_ = std::max(not_before_, clock_.SteadyNow() + *asked);
  }
  if (!MayRetry(call.get(), status)) {
    if (call->attempts == 1) return std::move(call->done)(std::move(reply));
    return std::move(call->done)(
        WithNote(status, absl::StrCat(" (after ", call->attempts, " attempts)")));
  }
  if (asked && *asked > options_.max_retry_after) {
    return std::move(call->done)(WithNote(
        status, absl::StrCat("; the server asks to wait ", absl::FormatDuration(*asked),
                             ", more than ", absl::FormatDuration(options_.max_retry_after))));
  }
  absl::Duration delay = call->backoff.Next();
  if (asked && *asked > delay) {
    // Spread the calls that were all told the same.
    delay = *asked + 0.1 * std::min(delay, *asked);
  }
  LOG(WARNING) << "msg=\"model call failed, trying again\" purpose=" << call->request.labels.purpose
               << " node=" << call->request.labels.node_id << " try=" << call->attempts
               << " delay=" << delay << " error=\"" << status.message() << "\"";
  Wait(std::move(call), delay);
}

void RetryingClient::Wait(std::unique_ptr<Call> call, absl::Duration delay) {
  timers_.RunAfter(delay, [this, call = std::move(call)](absl::Status status) mutable {
    if (!status.ok()) return std::move(call->done)(std::move(status));
    StartWhenAllowed(std::move(call));
  });
}

bool RetryingClient::MayRetry(Call* call, const absl::Status& status) const {
  if (call->attempts >= options_.max_attempts) return false;
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
