#ifndef KSEARCH_TESTS_FAKES_FAKE_VERIFIER_H_
#define KSEARCH_TESTS_FAKES_FAKE_VERIFIER_H_

#include <functional>
#include <utility>
#include <vector>

#include "common/mutex.h"
#include "gpu_worker/executor/verifier.h"

namespace ksearch {

// Answers every request with `answer` and remembers the requests. Thread-safe.
class FakeVerifier : public Verifier {
 public:
  absl::StatusOr<v1::Verdict> Judge(v1::VerifierRequest request, absl::Time,
                                    std::stop_token stop) override {
    if (during_judge) during_judge(stop);
    if (stop.stop_requested()) return absl::CancelledError("cancelled");
    MutexLock lock(&mu_);
    requests_.push_back(std::move(request));
    return answer;
  }

  absl::Status Probe(absl::Time, std::stop_token) override {
    MutexLock lock(&mu_);
    ++probes_;
    return probe_answer_;
  }
  void set_probe_answer(absl::Status status) {
    MutexLock lock(&mu_);
    probe_answer_ = std::move(status);
  }
  int probes() {
    MutexLock lock(&mu_);
    return probes_;
  }

  std::vector<v1::VerifierRequest> requests() {
    MutexLock lock(&mu_);
    return requests_;
  }

  // Set before use.
  absl::StatusOr<v1::Verdict> answer = v1::Verdict();
  std::function<void(std::stop_token)> during_judge;

 private:
  Mutex mu_;
  std::vector<v1::VerifierRequest> requests_ ABSL_GUARDED_BY(mu_);
  absl::Status probe_answer_ ABSL_GUARDED_BY(mu_);
  int probes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_VERIFIER_H_
