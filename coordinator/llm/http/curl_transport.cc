#include "coordinator/llm/http/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/log.h"
#include "coordinator/llm/http/curl_transfer.h"

namespace ksearch {

absl::StatusOr<std::unique_ptr<CurlTransport>> CurlTransport::Create() {
  // Debian's libcurl does this safely from any thread; the first call wins.
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (global != CURLE_OK) {
    return absl::InternalError(absl::StrCat("curl_global_init: ", curl_easy_strerror(global)));
  }
  CURLM* multi = curl_multi_init();
  if (multi == nullptr) return absl::UnavailableError("curl_multi_init: out of memory");
  return std::unique_ptr<CurlTransport>(new CurlTransport(multi));
}

CurlTransport::CurlTransport(void* multi) : multi_(multi), thread_([this] { Run(); }) {}

CurlTransport::~CurlTransport() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  curl_multi_wakeup(multi_);
  thread_.join();
  curl_multi_cleanup(multi_);
}

void CurlTransport::Send(HttpRequest request, SendDone done) {
  auto transfer = std::make_unique<CurlTransfer>(std::move(request), std::move(done));
  {
    MutexLock lock(&mu_);
    submitted_.push_back(std::move(transfer));
  }
  curl_multi_wakeup(multi_);
}

void CurlTransport::RunAfter(absl::Duration delay, TimerDone done) {
  const absl::Time due = Clock::Real().SteadyNow() + delay;
  {
    MutexLock lock(&mu_);
    submitted_timers_.emplace_back(due, std::move(done));
  }
  curl_multi_wakeup(multi_);
}

void CurlTransport::Run() {
  while (TakeSubmitted()) {
    FireDueTimers();
    int running = 0;
    curl_multi_perform(multi_, &running);
    CollectFinished();
    ExpireTransfers();
    curl_multi_poll(multi_, nullptr, 0, PollTimeoutMilliseconds(), nullptr);
  }
  CancelAll();
}

bool CurlTransport::TakeSubmitted() {
  std::vector<std::unique_ptr<CurlTransfer>> transfers;
  {
    MutexLock lock(&mu_);
    if (stopping_) return false;
    transfers.swap(submitted_);
    for (auto& [due, done] : submitted_timers_) timers_.emplace(due, std::move(done));
    submitted_timers_.clear();
  }
  for (auto& transfer : transfers) Begin(std::move(transfer));
  return true;
}

void CurlTransport::Begin(std::unique_ptr<CurlTransfer> transfer) {
  absl::Status prepared = transfer->Prepare();
  if (!prepared.ok()) return transfer->Finish(std::move(prepared));
  CHECK(curl_multi_add_handle(multi_, transfer->easy()) == CURLM_OK);
  CurlTransfer* const key = transfer.get();
  transfers_.emplace(key, std::move(transfer));
}

void CurlTransport::CollectFinished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;  // removing the handle invalidates `message`
    CurlTransfer* key = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &key);
    const auto found = transfers_.find(key);
    CHECK(found != transfers_.end());
    const std::unique_ptr<CurlTransfer> transfer = std::move(found->second);
    transfers_.erase(found);
    curl_multi_remove_handle(multi_, easy);
    transfer->Finish(code);
  }
}

void CurlTransport::ExpireTransfers() {
  const absl::Time now = Clock::Real().SteadyNow();
  for (auto it = transfers_.begin(); it != transfers_.end();) {
    if (it->second->deadline() > now) {
      ++it;
      continue;
    }
    const std::unique_ptr<CurlTransfer> transfer = std::move(it->second);
    it = transfers_.erase(it);
    curl_multi_remove_handle(multi_, transfer->easy());
    transfer->FinishLate();
  }
}

void CurlTransport::FireDueTimers() {
  const absl::Time now = Clock::Real().SteadyNow();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    TimerDone done = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    std::move(done)(absl::OkStatus());
  }
}

void CurlTransport::CancelAll() {
  // A separate status for each, since the receivers may be on different threads.
  const auto cancelled = [] { return absl::CancelledError("the model client is shutting down"); };
  for (auto& [key, transfer] : transfers_) {
    curl_multi_remove_handle(multi_, transfer->easy());
    transfer->Finish(cancelled());
  }
  transfers_.clear();
  for (auto& [due, done] : timers_) std::move(done)(cancelled());
  timers_.clear();
  for (;;) {  // callbacks may submit more
    std::vector<std::unique_ptr<CurlTransfer>> transfers;
    std::vector<std::pair<absl::Time, TimerDone>> timers;
    {
      MutexLock lock(&mu_);
      transfers.swap(submitted_);
      timers.swap(submitted_timers_);
    }
    if (transfers.empty() && timers.empty()) return;
    for (auto& transfer : transfers) transfer->Finish(cancelled());
    for (auto& [due, done] : timers) std::move(done)(cancelled());
  }
}

int CurlTransport::PollTimeoutMilliseconds() const {
  // libcurl shortens this by its own timers.
  constexpr absl::Duration kLongest = absl::Seconds(60);
  const absl::Time now = Clock::Real().SteadyNow();
  absl::Time next = now + kLongest;
  if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
  for (const auto& [key, transfer] : transfers_) next = std::min(next, transfer->deadline());
  // Rounded up, so that the poll does not return a moment before the event is due.
  return static_cast<int>(absl::ToInt64Milliseconds(std::max(next - now, absl::ZeroDuration()) +
                                                    absl::Milliseconds(1)));
}

}  // namespace ksearch
