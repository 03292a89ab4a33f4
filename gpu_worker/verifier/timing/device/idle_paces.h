#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_IDLE_PACES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_IDLE_PACES_H_

#include <string>
#include <vector>

#include "gpu_worker/verifier/timing/metronome.h"

namespace ksearch {

// Lead-ins and round trips of a runner that never loads anything, taken between a program's
// batches: what a batch costs apart from its calls. They show too whether a program keeps the
// device while it is stopped (kernels of a context of its own, which the runner does not wait for):
// every other context then waits its turn, for a millisecond or two. Thread-compatible.
class IdlePaces {
 public:
  void Add(const Metronome::Pace& pace);
  size_t count() const { return lead_ins_us_.size(); }
  double LeadInMicros(double quantile) const;
  double RoundTripMicros(double quantile) const;
  // Whether one in ten took much longer (kBusyLeadIn, kBusyRoundTrip) than `alone`, which were
  // taken while no program was there; without any, than the constants.
  bool KeptBusy(const IdlePaces& alone) const;

 private:
  std::vector<double> lead_ins_us_;
  std::vector<double> round_trips_us_;
};

// What to say of a program that keeps the device busy.
std::string KeptBusyText(const IdlePaces& paces, const IdlePaces& alone);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_IDLE_PACES_H_
