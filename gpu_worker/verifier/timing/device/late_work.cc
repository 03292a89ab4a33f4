#include "gpu_worker/verifier/timing/device/late_work.h"

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

void LateWork::Add(absl::Duration look_over, absl::Duration idle) {
  longer_us_.push_back(absl::ToDoubleMicroseconds(look_over - idle));
}

double LateWork::RawMicrosAGo() const { return Median(longer_us_); }

double LateWork::MicrosAGo() const {
  const double late_us = RawMicrosAGo();
  return late_us > absl::ToDoubleMicroseconds(kMaxLateWork) ? late_us : 0;
}

}  // namespace ksearch
