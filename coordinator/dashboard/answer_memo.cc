#include "coordinator/dashboard/answer_memo.h"

#include <utility>

#include "common/status_macros.h"

namespace ksearch::dashboard {

absl::StatusOr<AnswerMemo::Text> AnswerMemo::Get(
    const std::string& question, const std::function<absl::StatusOr<std::string>()>& make) {
  // An answer's age counts from the moment before it was computed.
  const absl::Time now = clock_->SteadyNow();
  {
    MutexLock lock(&mu_);
    const auto found = kept_.find(question);
    if (found != kept_.end() && now - found->second.made < options_.lasts) {
      return found->second.text;
    }
  }
  ASSIGN_OR_RETURN(std::string made, make());
  const auto text = std::make_shared<const std::string>(std::move(made));
  MutexLock lock(&mu_);
  for (auto it = kept_.begin(); it != kept_.end();) {
    if (now - it->second.made < options_.lasts && it->first != question) {
      ++it;
      continue;
    }
    bytes_ -= it->second.text->size();
    it = kept_.erase(it);
  }
  if (kept_.size() < options_.most && bytes_ + text->size() <= options_.most_bytes) {
    bytes_ += text->size();
    kept_[question] = {text, now};
  }
  return text;
}

}  // namespace ksearch::dashboard
