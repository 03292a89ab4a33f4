#include "gpu_worker/verifier/timing/device/late_work.h"

#include <algorithm>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

void LateWork::Add(absl::Duration look_over, absl::Duration idle) {
  longer_us_.push_back(absl::ToDoubleMicroseconds(look_over - idle));
}

double LateWork::RawMicrosAGo() const { return Median(longer_us_); }

double LateWork::MicrosAGo(double go_us) const {
  const double late_us = RawMicrosAGo();
  const double chance_us =
      std::clamp(kMaxLateShare * go_us, absl::ToDoubleMicroseconds(kLeastLateWork),
                 absl::ToDoubleMicroseconds(kMaxLateWork));
  return late_us > chance_us ? late_us : 0;
}

}  // namespace ksearch
