#include "gpu_worker/verifier/timing/device/deferred_work.h"

#include <algorithm>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

void DeferredWork::Add(absl::Duration output_check, absl::Duration idle) {
  longer_us_.push_back(absl::ToDoubleMicroseconds(output_check - idle));
}

double DeferredWork::RawMicrosPerBatch() const { return Median(longer_us_); }

double DeferredWork::MicrosPerBatch(double batch_us) const {
  const double late_us = RawMicrosPerBatch();
  const double chance_us =
      std::clamp(kMaxLateShare * batch_us, absl::ToDoubleMicroseconds(kLeastLateWork),
                 absl::ToDoubleMicroseconds(kMaxLateWork));
  return late_us > chance_us ? late_us : 0;
}

}  // namespace ksearch
