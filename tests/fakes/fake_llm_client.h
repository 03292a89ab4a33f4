#ifndef KSEARCH_TESTS_FAKES_FAKE_LLM_CLIENT_H_
#define KSEARCH_TESTS_FAKES_FAKE_LLM_CLIENT_H_

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

// Scripted answers by labels, given on a thread of its own in the order asked. Thread-safe.
class FakeLlmClient final : public LlmClient {
 public:
  using Answerer = std::function<absl::StatusOr<LlmReply>(const LlmRequest&)>;

  FakeLlmClient() : thread_([this] { Serve(); }) {}
  // Unanswered calls end with CANCELLED.
  ~FakeLlmClient() override {
    {
      MutexLock lock(&mu_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    thread_.join();
  }

  static LlmReply Text(std::string text) {
    return LlmReply{.text = std::move(text),
                    .finish_reason = "stop",
                    .model = "fake",
                    .response_id = "",
                    .usage = {.uncached_input = 100, .visible_output = 50},
                    .usage_reported = true};
  }

  // The next answer to calls of `purpose` about `node_id` (empty: about any node that has no
  // answers of its own). Answers are given in order; the last is repeated.
  void Answer(const std::string& purpose, const std::string& node_id,
              absl::StatusOr<LlmReply> answer) {
    MutexLock lock(&mu_);
    answers_[{purpose, node_id}].push_back(std::move(answer));
  }
  void Answer(const std::string& purpose, std::string text) {
    Answer(purpose, "", Text(std::move(text)));
  }
  // Asked before the answers above whenever set; runs on the client's thread.
  void AnswerWith(Answerer answerer) {
    MutexLock lock(&mu_);
    answerer_ = std::move(answerer);
  }
  // While held, calls are taken but not answered.
  void Hold(bool held) {
    MutexLock lock(&mu_);
    held_ = held;
    changed_.NotifyAll();
  }
  // Waits until `count` calls have been made in all.
  void AwaitRequests(size_t count) {
    MutexLock lock(&mu_);
    while (requests_.size() < count) changed_.Wait(&mu_);
  }
  std::vector<LlmRequest> requests() const {
    MutexLock lock(&mu_);
    return requests_;
  }

  void Complete(LlmRequest request, Done done) override {
    MutexLock lock(&mu_);
    requests_.push_back(request);
    waiting_.emplace_back(std::move(request), std::move(done));
    changed_.NotifyAll();
  }

 private:
  void Serve() {
    mu_.Lock();
    for (;;) {
      while (!stopping_ && (held_ || waiting_.empty())) changed_.Wait(&mu_);
      if (waiting_.empty()) break;
      auto [request, done] = std::move(waiting_.front());
      waiting_.pop_front();
      const Answerer answerer = answerer_;
      absl::StatusOr<LlmReply> reply = absl::CancelledError("client is being destroyed");
      if (!stopping_ && !answerer) reply = NextAnswer(request.labels);
      const bool cancelled = stopping_;
      mu_.Unlock();
      if (!cancelled && answerer) reply = answerer(request);
      std::move(done)(std::move(reply));
      mu_.Lock();
    }
    mu_.Unlock();
  }

  absl::StatusOr<LlmReply> NextAnswer(const LlmLabels& labels) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    auto found = answers_.find({labels.purpose, labels.node_id});
    if (found == answers_.end()) found = answers_.find({labels.purpose, ""});
    if (found == answers_.end()) {
      return absl::NotFoundError(absl::StrCat("no scripted answer for purpose \"", labels.purpose,
                                              "\" node \"", labels.node_id, "\""));
    }
    auto& queue = found->second;
    absl::StatusOr<LlmReply> answer = queue.front();
    if (queue.size() > 1) queue.pop_front();
    if (answer.ok()) return answer;
    // Not shared with the script: ThreadSanitizer cannot see into Status's reference count.
    return absl::Status(answer.status().code(), answer.status().message());
  }

  mutable Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  bool held_ ABSL_GUARDED_BY(mu_) = false;
  Answerer answerer_ ABSL_GUARDED_BY(mu_);
  std::map<std::pair<std::string, std::string>, std::deque<absl::StatusOr<LlmReply>>> answers_
      ABSL_GUARDED_BY(mu_);
  std::vector<LlmRequest> requests_ ABSL_GUARDED_BY(mu_);
  std::deque<std::pair<LlmRequest, Done>> waiting_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: started when all else is ready
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_LLM_CLIENT_H_
