#ifndef KSEARCH_TESTS_GPU_WORKER_VERIFIER_TIMING_DEVICE_SIMULATED_GPU_H_
#define KSEARCH_TESTS_GPU_WORKER_VERIFIER_TIMING_DEVICE_SIMULATED_GPU_H_

#include <map>
#include <vector>

#include "gpu_worker/verifier/timing/device/clock_reader.h"
#include "gpu_worker/verifier/timing/device/device_calls.h"
#include "tests/fakes/fake_clock.h"

namespace ksearch {

// Simulates a program on a GPU: calls take device_us on the device and host_us on the host, and
// advance a fake clock. Its reported times can be made to differ.
class SimulatedGpu final : public DeviceCalls, public ClockReader {
 public:
  double device_us = 50;
  double host_us = 4;
  double reported = 1;  // share of the device's time that events see
  bool recordable = false;
  bool breaks_when_recorded = false;
  bool defers = false;  // does the work of a call only when the next one comes
  double mhz = 1980;
  uint64_t reasons = 0;
  int throttled_readings = 0;  // that many readings are throttled, once timing has begun

  // The part of each call done before the clock starts, while the lead-in is drawn out.
  double begun_us = 0;

  // The part of each call done after "done", which neither the runner's clock nor the batch sees.
  double late_us = 0;

  static constexpr double kRoundTripMicros = 16;
  static constexpr double kCheckOutputsMicros = 150;
  static constexpr double kLeadInMicros = 220;  // of an idle runner

  FakeClock& clock() { return clock_; }
  const std::map<v1::BatchRequest::Mode, int>& batches() const { return batches_; }
  int calls() const { return calls_; }

  // How long an idle runner waits for a device that the stopped program keeps busy.
  double kept_us = 0;

  absl::StatusOr<Metronome::Pace> RoundTrip() {
    clock_.Advance(absl::Microseconds(kLeadInMicros + kept_us + kRoundTripMicros));
    return Metronome::Pace{absl::Microseconds(kLeadInMicros + kept_us),
                           absl::Microseconds(kRoundTripMicros)};
  }
  void BeginMeasurement() override { ++measurements_; }
  int measurements() const { return measurements_; }

  WorkloadSession::Batch Run(const std::vector<WorkloadSession::Call>& calls,
                             WorkloadSession::Mode mode,
                             const WorkloadSession::BatchForm& form) override {
    ++batches_[form.mode];
    const auto n = static_cast<double>(calls.size());
    calls_ += static_cast<int>(calls.size());
    WorkloadSession::Batch batch;
    batch.calls = calls.size();
    if (broken_) {
      batch.ending = {v1::OUTCOME_RUNTIME_ERROR, "ksearch_run returned 900"};
      return batch;
    }
    if (defers && calls.size() == 1 && mode == WorkloadSession::Mode::kTimed &&
        form.mode == v1::BatchRequest::FREE) {
      batch.ending = {v1::OUTCOME_CHEAT, "a timed call returned before output 'c' was written"};
      return batch;
    }
    double wall = kRoundTripMicros;
    switch (form.mode) {
      case v1::BatchRequest::EVENTS:
        batch.latency_us.assign(calls.size(), device_us * reported);
        batch.host_us.assign(calls.size(), host_us);
        wall += n * (device_us + host_us);
        break;
      case v1::BatchRequest::REPLAY:
        batch.latency_us = {device_us * reported};
        wall += n * device_us;
        break;
      default:
        // Calls run one by one: queued, done, waited for.
        batch.latency_us = {device_us * reported};
        batch.host_us.assign(calls.size(), host_us);
        wall += n * (device_us + host_us) + (n - 1) * kRoundTripMicros;
    }
    if (form.lead_in) {
      wall -= n * begun_us;
      batch.lead_in = absl::Microseconds(kLeadInMicros + n * begun_us);
    }
    wall -= n * late_us;
    batch.audit = absl::Microseconds(wall);
    batch.output_check = absl::Microseconds(kCheckOutputsMicros + n * late_us);
    clock_.Advance(absl::Microseconds(wall + 100));
    return batch;
  }

  // The ending of a batch with late inputs; inputs come in time from the `in_time_from`-th on.
  Ending late_ending;
  int in_time_from = 1;
  Ending RunWithLateInputs(const std::vector<WorkloadSession::Call>& calls,
                           const WorkloadSession::BatchForm& form, bool* seen) override {
    late_batches.push_back(form.mode);
    const Ending ending = Run(calls, WorkloadSession::Mode::kTimed, form).ending;
    *seen = in_time_from > 0 && static_cast<int>(late_batches.size()) >= in_time_from;
    return ending.passed() ? late_ending : ending;
  }
  std::vector<v1::BatchRequest::Mode> late_batches;

  WorkloadSession::Recording Record(const std::vector<int>& sets, int) override {
    ++batches_[v1::BatchRequest::CAPTURE];
    recorded_calls = static_cast<int>(sets.size());
    broken_ = breaks_when_recorded;
    return {{}, recordable ? "" : "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"};
  }
  int recorded_calls = 0;

  absl::Duration CheckOutputs(const std::vector<WorkloadSession::Call>&) override {
    return absl::Microseconds(kCheckOutputsMicros);
  }

  absl::StatusOr<ClockReading> Read() override {
    clock_.Advance(absl::Milliseconds(1));
    if (throttled_readings > 0 && batches_.count(v1::BatchRequest::FREE) > 0) {
      --throttled_readings;
      return ClockReading{mhz, 0x40};
    }
    return ClockReading{mhz, reasons};
  }

 private:
  FakeClock clock_;
  std::map<v1::BatchRequest::Mode, int> batches_;
  int calls_ = 0;
  int measurements_ = 0;
  bool broken_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_VERIFIER_TIMING_DEVICE_SIMULATED_GPU_H_
