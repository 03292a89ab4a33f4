#ifndef KSEARCH_COORDINATOR_DASHBOARD_ANSWER_MEMO_H_
#define KSEARCH_COORDINATOR_DASHBOARD_ANSWER_MEMO_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace ksearch::dashboard {

// Caches responses for a short time, so that many open pages that ask the same question after the
// same event cost one query of the store. Errors are not cached. The number of entries is limited.
// Thread-safe.
class AnswerMemo {
 public:
  struct Options {
    absl::Duration lasts = absl::Milliseconds(500);
    size_t most = 256;  // answers
    size_t most_bytes = size_t{32} << 20;
  };
  using Text = std::shared_ptr<const std::string>;

  AnswerMemo(Options options, const Clock* clock) : options_(options), clock_(clock) {}

  // Runs `make` on the calling thread without a lock: two simultaneous callers may both run it.
  absl::StatusOr<Text> Get(const std::string& question,
                           const std::function<absl::StatusOr<std::string>()>& make);

 private:
  struct Kept {
    Text text;
    absl::Time made;  // monotonic clock
  };

  const Options options_;
  const Clock* const clock_;

  Mutex mu_;
  std::map<std::string, Kept> kept_ ABSL_GUARDED_BY(mu_);
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_ANSWER_MEMO_H_
