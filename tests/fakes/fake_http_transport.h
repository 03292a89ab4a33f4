#ifndef KSEARCH_TESTS_FAKES_FAKE_HTTP_TRANSPORT_H_
#define KSEARCH_TESTS_FAKES_FAKE_HTTP_TRANSPORT_H_

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/llm/http/http_transport.h"

namespace ksearch {

// Posts and timers wait until the test answers or fires them, on the test's thread. Not
// thread-safe.
class FakeHttpTransport final : public HttpTransport {
 public:
  ~FakeHttpTransport() override {
    stopping_ = true;
    while (!posts.empty()) Answer(absl::CancelledError("transport is being destroyed"));
    while (!timers.empty()) Fire(absl::CancelledError("transport is being destroyed"));
  }

  void Post(HttpRequest request, PostDone done) override {
    if (stopping_) return std::move(done)(absl::CancelledError("transport is being destroyed"));
    posts.emplace_back(std::move(request), std::move(done));
  }
  void RunAfter(absl::Duration delay, TimerDone done) override {
    if (stopping_) return std::move(done)(absl::CancelledError("transport is being destroyed"));
    timers.emplace_back(delay, std::move(done));
  }

  // Answers the oldest post.
  void Answer(absl::StatusOr<HttpResponse> response) {
    PostDone done = std::move(posts.front().second);
    posts.pop_front();
    std::move(done)(std::move(response));
  }
  void Answer(int status, std::string body) {
    Answer(HttpResponse{.status = status, .headers = {}, .body = std::move(body)});
  }
  // Fires the oldest timer, whatever its delay.
  void Fire(absl::Status status = absl::OkStatus()) {
    TimerDone done = std::move(timers.front().second);
    timers.pop_front();
    std::move(done)(std::move(status));
  }

  std::deque<std::pair<HttpRequest, PostDone>> posts;
  std::deque<std::pair<absl::Duration, TimerDone>> timers;

 private:
  bool stopping_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_HTTP_TRANSPORT_H_
