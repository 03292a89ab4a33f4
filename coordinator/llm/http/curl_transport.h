#ifndef KSEARCH_COORDINATOR_LLM_HTTP_CURL_TRANSPORT_H_
#define KSEARCH_COORDINATOR_LLM_HTTP_CURL_TRANSPORT_H_

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "coordinator/llm/http/http_transport.h"

namespace ksearch {

class CurlTransfer;

// libcurl's multi interface on one I/O thread. Any number of transfers; each has its own connection
// while it lasts (HTTP/1.1), which is then reused. Proxies come from the environment (HTTPS_PROXY,
// NO_PROXY), but are never used for loopback.
class CurlTransport final : public HttpTransport {
 public:
  static absl::StatusOr<std::unique_ptr<CurlTransport>> Create();
  ~CurlTransport() override;

  void Send(HttpRequest request, SendDone done) override;
  void RunAfter(absl::Duration delay, TimerDone done) override;

 private:
  explicit CurlTransport(void* multi);  // CURLM*, owned

  void Run();
  // Moves submitted requests into transfers_ and timers_. Returns false when stopping.
  bool TakeSubmitted();
  void Begin(std::unique_ptr<CurlTransfer> transfer);
  void CollectFinished();
  void ExpireTransfers();
  void FireDueTimers();
  void CancelAll();
  int PollTimeoutMilliseconds() const;

  void* const multi_;  // used by the I/O thread; curl_multi_wakeup by any thread

  Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::unique_ptr<CurlTransfer>> submitted_ ABSL_GUARDED_BY(mu_);
  std::vector<std::pair<absl::Time, TimerDone>> submitted_timers_ ABSL_GUARDED_BY(mu_);

  // Used only by the I/O thread.
  std::map<CurlTransfer*, std::unique_ptr<CurlTransfer>> transfers_;
  std::multimap<absl::Time, TimerDone> timers_;  // by due time, SteadyNow scale

  std::thread thread_;  // last: starts when all other members exist
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_CURL_TRANSPORT_H_
