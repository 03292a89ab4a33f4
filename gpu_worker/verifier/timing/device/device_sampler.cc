#include "gpu_worker/verifier/timing/device/device_sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/device/roofline.h"
#include "gpu_worker/verifier/timing/late_batch.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {
namespace {

// A measurement has at least this many batches, so that the audit can use a median.
constexpr int kBatchesPerMeasurement = 4;
// Consecutive calls are not independent samples, but batches are.
constexpr double kSampleConfidence = 0.95;

// 30 ms, 0.12 s, 0.48 s (a warm-up's maximum).
absl::Duration CoolDown(int attempt) { return kAuditCoolDown * std::pow(4, attempt - 1); }

}  // namespace

absl::StatusOr<DeviceSampler::Sampled> DeviceSampler::Sample() {
  Sampled sampled;
  warm_ = WarmUpDevice(calls_, dealer_, options_.warm_up, watch_, clock_);
  sampled.ending = warm_.ending;
  sampled.host_us = warm_.host_us;
  sampled.host_bound = warm_.host_bound();
  if (!sampled.ending.passed()) return sampled;
  if (options_.allow_graphs) {
    recorded_ = RecordCalls(calls_, dealer_, MostCallsOfReplay());
    sampled.ending = recorded_.ending;
    sampled.spoiled = recorded_.spoiled;
    if (!sampled.ending.passed() || sampled.spoiled) return sampled;
  }
  if (recorded_.recorded) {
    way_ = Way::kGraph;
  } else if (warm_.host_bound()) {
    way_ = Way::kVerifierClock;
  }
  constexpr const char* kNames[] = {"events", "graph", "verifier_clock"};
  sampled.timing = kNames[static_cast<int>(way_)];

  for (int attempt = 1;; ++attempt) {
    RETURN_IF_ERROR(Measure(options_.late_inputs && attempt == 1, &sampled));
    if (!sampled.ending.passed()) break;
    const double call_us = sampled.samples.median_us();
    sampled.audit_ratio = audit_.Ratio(call_us);
    if (options_.trusted) break;
    // A replay has no host time of the candidate in it. The host's time is the candidate's own
    // word: where events count, more than kHostBound of it was not there in the warm-up, which
    // chose this way; by the verifier's clock, it gains nothing by being long.
    double host_us = Median(host_us_), events_us = call_us;
    if (way_ == Way::kGraph) host_us = 0;
    if (way_ == Way::kEvents) host_us = std::min(host_us, kHostBound * call_us);
    if (way_ == Way::kVerifierClock) events_us = warm_.call_us;
    // Calls made one by one are queued while the device is held: first the host's time, then
    // theirs.
    if (way_ != Way::kGraph) host_us += events_us;
    const bool busy = audit_.paces().ShowsBusyDevice(options_.alone);
    if (!busy && !audit_.TimeEscaped(events_us, host_us)) break;
    sampled.audit_ratio = audit_.Ratio(std::max(events_us, host_us));
    LOG(WARNING) << "msg=\"time escapes\" attempt=" << attempt << " timing=" << sampled.timing
                 << " " << audit_.Summary(call_us);
    if (attempt == kAuditAttempts && busy) {
      sampled.ending = {v1::OUTCOME_CHEAT, BusyDeviceText(audit_.paces(), options_.alone)};
      break;
    }
    if (attempt == kAuditAttempts) {
      sampled.ending = {
          v1::OUTCOME_CHEAT,
          absl::StrFormat("audit clock: calls took %.2fx the time that they reported; work outside "
                          "the timed call, or a forged clock",
                          sampled.audit_ratio)};
      break;
    }
    sampled.ending = WarmUpDevice(calls_, dealer_, CoolDown(attempt), watch_, clock_).ending;
    if (!sampled.ending.passed()) break;
  }
  if (!options_.trusted) {
    LOG(INFO) << "msg=\"audited\" timing=" << sampled.timing
              << " median_us=" << sampled.samples.median_us() << " ratio=" << sampled.audit_ratio
              << " " << audit_.Summary(sampled.samples.median_us());
  }
  for (int attempt = 1; sampled.ending.passed() && !options_.trusted; ++attempt) {
    double escaped_ratio = 0;
    RETURN_IF_ERROR(LockStep(&sampled, &escaped_ratio));
    if (!sampled.ending.passed() || escaped_ratio == 0) break;
    sampled.audit_ratio = std::max(sampled.audit_ratio, escaped_ratio);
    if (attempt < kAuditAttempts) {
      sampled.ending = WarmUpDevice(calls_, dealer_, CoolDown(attempt), watch_, clock_).ending;
      continue;
    }
    sampled.ending = {
        v1::OUTCOME_CHEAT,
        absl::StrFormat(
            "audit clock: calls made one at a time took %.2fx as long as they reported "
            "when made together; work is put off to later calls, or hidden from the clock",
            escaped_ratio)};
  }
  if (sampled.ending.passed() && sampled.samples.median_us() < kImpossible * options_.floor_us) {
    sampled.ending = {v1::OUTCOME_CHEAT,
                      FasterThanFloorText(sampled.samples.median_us(), options_.floor_us)};
  }
  sampled.host_us = Median(host_us_);
  sampled.sm_clock_mhz = watch_.median_mhz();
  sampled.throttle_reasons = watch_.reasons();
  return sampled;
}

absl::Status DeviceSampler::Measure(bool late_inputs, Sampled* sampled) {
  audit_ = DeviceAudit();
  latency_us_.clear();
  host_us_.clear();
  if (way_ == Way::kGraph) host_us_.push_back(warm_.host_us);
  calls_done_ = 0;
  measured_us_ = 0;
  const absl::Time wall_end =
      clock_.SteadyNow() + FromProto(options_.plan.max_time_per_workload()) * kWallPerMeasureTime;
  calls_.BeginMeasurement();
  max_batches_ = kLeastMaxDeviceBatches +
                 dealer_.rng().NextBelow(kMostMaxDeviceBatches - kLeastMaxDeviceBatches + 1);
  bool enough = false;
  // Drawn uniformly among the batches that every measurement has.
  int batches_to_late_inputs =
      late_inputs ? static_cast<int>(dealer_.rng().NextBelow(kBatchesPerMeasurement)) : -1;
  while (true) {
    if (batches_to_late_inputs-- == 0) {
      sampled->ending = RunWithLateInputs();
      if (!sampled->ending.passed()) return absl::OkStatus();
    }
    // The last batch comes unannounced.
    const int oracled = enough ? dealer_.oracled_left() : dealer_.DrawOracles();
    bool counted = false;
    RETURN_IF_ERROR(MeasureOnce(oracled, &sampled->ending, &counted));
    if (!sampled->ending.passed()) return absl::OkStatus();
    if (!counted) continue;
    if (enough) break;
    if (options_.slow_us > 0 && calls_done_ >= kEarlyStopCalls &&
        Median(Samples()) > options_.slow_us) {
      sampled->slow = true;
    }
    enough = Enough(wall_end);
  }
  sampled->samples = Summarize(Samples());
  return absl::OkStatus();
}

Ending DeviceSampler::RunWithLateInputs() {
  const bool replayed = way_ == Way::kGraph;
  const WorkloadSession::BatchForm form = {
      replayed ? v1::BatchRequest::REPLAY : v1::BatchRequest::FREE, 0, true};
  bool seen = false;
  Ending ending = RunLateBatch(
      dealer_, replayed ? MostCallsOfReplay() : CallsOfBatch(),
      [&](const std::vector<WorkloadSession::Call>& late, bool* in_time) {
        return calls_.RunWithLateInputs(late, form, in_time);
      },
      &seen);
  LOG(INFO) << "msg=\"late inputs\" timing=" << (replayed ? "graph" : "calls") << " seen=" << seen;
  return ending;
}

absl::Status DeviceSampler::MeasureOnce(int oracled, Ending* ending, bool* counted) {
  WorkloadSession::Batch batch;
  if (way_ == Way::kGraph) {
    RETURN_IF_ERROR(RunAudited(dealer_.DealTo(OrderOfChain(dealer_, MostCallsOfReplay()), oracled),
                               {v1::BatchRequest::REPLAY, 0, true}, &batch, counted));
  } else if (way_ == Way::kVerifierClock) {
    RETURN_IF_ERROR(RunAudited(dealer_.Deal(CallsOfBatch(), oracled),
                               {v1::BatchRequest::FREE, 0, true}, &batch, counted));
  } else {
    batch = calls_.Run(dealer_.Deal(CallsOfBatch(), oracled), WorkloadSession::Mode::kTimed,
                       {v1::BatchRequest::EVENTS, 0});
    if (batch.ending.passed()) {
      const ClockWatch::Fit fit = watch_.Judge();
      *counted = fit == ClockWatch::Fit::kGood;
      if (fit == ClockWatch::Fit::kDegraded) {
        return absl::UnavailableError("the GPU is degraded: its clocks stay down (heat or power)");
      }
    }
  }
  *ending = batch.ending;
  if (!ending->passed() || !*counted) return absl::OkStatus();
  latency_us_.insert(latency_us_.end(), batch.latency_us.begin(), batch.latency_us.end());
  host_us_.insert(host_us_.end(), batch.host_us.begin(), batch.host_us.end());
  calls_done_ += batch.calls;
  for (const double us : batch.latency_us) {
    measured_us_ +=
        us * static_cast<double>(batch.calls) / static_cast<double>(batch.latency_us.size());
  }
  if (way_ != Way::kEvents || options_.trusted) return absl::OkStatus();
  bool audited = false;
  RETURN_IF_ERROR(RunAudited(dealer_.Deal(CallsOfBatch(), 0), {v1::BatchRequest::FREE, 0, true},
                             &batch, &audited));
  *ending = batch.ending;
  return absl::OkStatus();
}

absl::Status DeviceSampler::RunAudited(const std::vector<WorkloadSession::Call>& calls,
                                       const WorkloadSession::BatchForm& form,
                                       WorkloadSession::Batch* batch, bool* counted) {
  ASSIGN_OR_RETURN(const Metronome::Pace idle, round_trip_());
  const absl::Duration idle_look = calls_.CheckOutputs(calls);
  *batch = calls_.Run(calls, WorkloadSession::Mode::kTimed, form);
  if (!batch->ending.passed()) return absl::OkStatus();
  switch (watch_.Judge()) {
    case ClockWatch::Fit::kDegraded:
      return absl::UnavailableError("the GPU is degraded: its clocks stay down (heat or power)");
    case ClockWatch::Fit::kThrottled:
      return absl::OkStatus();
    case ClockWatch::Fit::kGood:
      break;
  }
  audit_.AddPace(idle);
  audit_.AddBatch(*batch, form.mode == v1::BatchRequest::FREE, idle_look);
  *counted = true;
  return absl::OkStatus();
}

// Makes calls one by one, each prepared only after the previous one was checked: work deferred to
// a later call, or done for several at once, is missing here.
absl::Status DeviceSampler::LockStep(Sampled* sampled, double* escaped_ratio) {
  const double call_us = sampled->samples.median_us();
  DeviceAudit audit;
  const absl::Time end = clock_.SteadyNow() + kLockStepTime;
  for (int i = 0; i < kLockStepCalls; ++i) {
    if (i >= kMinLockStepCalls && clock_.SteadyNow() >= end) break;
    ASSIGN_OR_RETURN(const Metronome::Pace idle, round_trip_());
    const std::vector<WorkloadSession::Call> call = dealer_.Deal(1, 0);
    const absl::Duration idle_look = calls_.CheckOutputs(call);
    const WorkloadSession::Batch batch =
        calls_.Run(call, WorkloadSession::Mode::kTimed, {v1::BatchRequest::FREE, 0, true});
    sampled->ending = batch.ending;
    if (!batch.ending.passed()) return absl::OkStatus();
    audit.AddPace(idle);
    audit.AddBatch(batch, true, idle_look);
    // A graph's measurement excludes the host's time, but this one includes it.
    host_us_.insert(host_us_.end(), batch.host_us.begin(), batch.host_us.end());
  }
  double host_us = Median(host_us_);
  if (way_ == Way::kEvents) host_us = std::min(host_us, kHostBound * call_us);
  // Calls run one after the other, so nothing hides the host's time.
  if (!audit.TimeEscaped(call_us, host_us + call_us)) return absl::OkStatus();
  *escaped_ratio = audit.Ratio(call_us);
  LOG(WARNING) << "msg=\"time escapes in lock-step\" timing=" << sampled->timing << " "
               << audit.Summary(call_us);
  return absl::OkStatus();
}

bool DeviceSampler::Enough(absl::Time wall_end) const {
  const v1::MeasurePlan& plan = options_.plan;
  const auto done = static_cast<int>(calls_done_);
  if (options_.coarse) return done >= kEarlyStopCalls;
  if (clock_.SteadyNow() >= wall_end) return true;
  const std::vector<double> samples = Samples();
  if (way_ != Way::kEvents) {
    // Each batch is one sample, but the plan counts calls.
    if (samples.size() < kMinDeviceBatches) return false;
    if (samples.size() >= max_batches_) return true;
  } else {
    if (done < plan.min_calls()) return false;
    if (done >= plan.max_calls()) return true;
  }
  if (measured_us_ >= absl::ToDoubleMicroseconds(FromProto(plan.max_time_per_workload()))) {
    return true;
  }
  const Interval interval = MedianInterval(samples, kSampleConfidence);
  const double median = Median(samples);
  return median <= 0 || (interval.high - interval.low) / 2 / median <= plan.target_half_width();
}

// Half to all of what the plan allows, so that a batch's length tells the candidate nothing.
int DeviceSampler::CallsOfBatch() {
  const double max_us =
      absl::ToDoubleMicroseconds(FromProto(options_.plan.max_time_per_workload()));
  const double left = std::max(
      1.0, static_cast<double>(options_.plan.max_calls()) - static_cast<double>(calls_done_));
  double most = std::clamp(max_us / kBatchesPerMeasurement / std::max(warm_.call_us, 1e-3), 1.0,
                           std::max(left, static_cast<double>(kEarlyStopCalls)));
  if (options_.coarse) most = std::min(most, static_cast<double>(kEarlyStopCalls));
  return static_cast<int>(std::ceil(most * (0.5 + 0.5 * dealer_.rng().NextDouble())));
}

int DeviceSampler::MostCallsOfReplay() const {
  const int most = MostCallsOfChain(dealer_.sets(), warm_.call_us);
  return options_.coarse ? std::min(most, kEarlyStopCalls) : most;
}

std::vector<double> DeviceSampler::Samples() const {
  return way_ == Way::kVerifierClock ? audit_.VerifierMicros() : latency_us_;
}

}  // namespace ksearch
