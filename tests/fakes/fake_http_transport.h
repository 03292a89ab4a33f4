#ifndef KSEARCH_TESTS_FAKES_FAKE_HTTP_TRANSPORT_H_
#define KSEARCH_TESTS_FAKES_FAKE_HTTP_TRANSPORT_H_

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/llm/http/http_transport.h"

namespace ksearch {

// Requests and timers wait until the test answers or fires them, on the test's thread. Not
// thread-safe.
class FakeHttpTransport final : public HttpTransport {
 public:
  ~FakeHttpTransport() override {
    stopping_ = true;
    while (!posts.empty()) Answer(absl::CancelledError("transport is being destroyed"));
    while (!timers.empty()) Fire(absl::CancelledError("transport is being destroyed"));
  }

  void Send(HttpRequest request, SendDone done) override {
    if (stopping_) return std::move(done)(absl::CancelledError("transport is being destroyed"));
    posts.emplace_back(std::move(request), std::move(done));
  }
  void RunAfter(absl::Duration delay, TimerDone done) override {
    if (stopping_) return std::move(done)(absl::CancelledError("transport is being destroyed"));
    timers.emplace_back(delay, std::move(done));
  }

  // Answers the oldest post.
  void Answer(absl::StatusOr<HttpResponse> response) {
    HttpRequest request = std::move(posts.front().first);
    SendDone done = std::move(posts.front().second);
    posts.pop_front();
    if (response.ok() && response->status == 200 && request.on_event_stream != nullptr &&
        response->headers["content-type"] == "text/event-stream") {
      const absl::Status read = request.on_event_stream(response->body);
      response->body.clear();
      if (!read.ok()) return std::move(done)(read);
    }
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

  std::deque<std::pair<HttpRequest, SendDone>> posts;
  std::deque<std::pair<absl::Duration, TimerDone>> timers;

 private:
  bool stopping_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_HTTP_TRANSPORT_H_
