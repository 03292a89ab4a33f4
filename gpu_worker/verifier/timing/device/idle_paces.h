#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_IDLE_PACES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_IDLE_PACES_H_

#include <string>
#include <vector>

#include "gpu_worker/verifier/timing/metronome.h"

namespace ksearch {

// Lead-ins and round trips of a runner that never loads anything, measured between a program's
// batches: the overhead of a batch apart from its calls. They also reveal device squatting: if a
// stopped program has kernels running (in its own context, for which the runner does not wait),
// every other context waits a millisecond or two for its turn. If it has copies between host and
// device under way, which take memory bandwidth from kernels beside them (measured on an H200: 5 to
// 8 %), other programs' copies wait about a millisecond. Thread-compatible.
class IdlePaces {
 public:
  void Add(const Metronome::Pace& pace);
  // Adds the time of a small copy (GpuTiming::copy).
  void AddCopy(absl::Duration time);
  size_t count() const { return lead_ins_us_.size(); }
  double LeadInMicros(double quantile) const;
  double RoundTripMicros(double quantile) const;
  // 0 if there are none.
  double CopyMicros(double quantile) const;
  // Returns true if one in ten took much longer (kBusyLeadIn, kBusyRoundTrip, kBusyCopy) than
  // `alone`, which were measured while no program was loaded, or, if `alone` is empty, than the
  // constants.
  bool ShowsBusyDevice(const IdlePaces& alone) const;

 private:
  std::vector<double> lead_ins_us_;
  std::vector<double> round_trips_us_;
  std::vector<double> copies_us_;
};

// The message for a program that keeps the device busy.
std::string BusyDeviceText(const IdlePaces& paces, const IdlePaces& alone);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_IDLE_PACES_H_
