#include "gpu_worker/session/stay_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

// Time reserved at the end of the lifetime for stopping jobs and telling the coordinator; at most a
// tenth of the lifetime.
constexpr absl::Duration kHandover = absl::Seconds(10);

}  // namespace

StayPlan::StayPlan(Options options, absl::Time start)
    : options_(std::move(options)),
      end_(absl::InfiniteFuture()),
      grace_(std::min(options_.leave_grace, options_.lifetime / 4)),
      last_busy_(start) {
  if (options_.lifetime < absl::InfiniteDuration()) {
    end_ = start + options_.lifetime - std::min(kHandover, options_.lifetime / 10);
  }
}

void StayPlan::Leave(const std::string& why, std::optional<absl::Duration> grace, absl::Time now) {
  end_ = std::min(end_, now + grace.value_or(options_.leave_grace));
  if (!std::exchange(leaving_, true)) why_ = why;
}

StayPlan::Step StayPlan::Next(absl::Time now, bool busy, int64_t taken) {
  if (busy || taken != taken_) last_busy_ = now;
  taken_ = taken;
  if (!leaving_ && now >= end_ - grace_) {
    leaving_ = true;
    why_ = options_.end_of_life;
  }
  if (!leaving_ && now - last_busy_ >= options_.idle_timeout) {
    Leave(absl::StrCat("it had no job for ", absl::FormatDuration(options_.idle_timeout)),
          std::nullopt, now);
  }
  Step step;
  step.leave = leaving_;
  step.give_back = leaving_ && now >= end_;
  step.why = why_;
  if (end_ < absl::InfiniteFuture()) step.time_left = std::max(end_ - now, absl::ZeroDuration());
  if (leaving_) {
    step.next = step.give_back ? absl::InfiniteFuture() : end_;
  } else {
    step.next = std::min(end_ - grace_, last_busy_ + options_.idle_timeout);
  }
  return step;
}

}  // namespace ksearch
