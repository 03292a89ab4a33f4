#include "gpu_worker/verifier/timing/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/shuffle.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/late_batch.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {
namespace {

constexpr uint64_t kMaxOraclesPerBatch = 2;
// A measurement has at least this many batches, so that the audit can use a median.
constexpr int kBatchesPerMeasurement = 4;

double RelativeHalfWidth(const std::vector<double>& latency_us) {
  const Interval interval = MedianInterval(latency_us, 0.95);
  const double median = Median(latency_us);
  return median <= 0 ? 0 : (interval.high - interval.low) / 2 / median;
}

struct Measurement {
  Ending ending;
  std::vector<double> latency_us;
  // For each batch, the mean of its calls without waits for a core, which count for half at most.
  std::vector<double> batch_mean_us;
  absl::Duration inner;
  ClockAudit audit;
};

absl::StatusOr<Measurement> Measure(WorkloadSession& session, CallDealer& dealer,
                                    const OracleEntries& oracles, const v1::MeasurePlan& plan,
                                    Metronome* metronome, bool late_inputs,
                                    const WorkloadSession::Limits& limits, const Clock& clock,
                                    double call_us) {
  Measurement measurement;
  const absl::Duration max_time = FromProto(plan.max_time_per_workload());
  const absl::Time wall_end = clock.SteadyNow() + max_time * kWallPerMeasureTime;
  const double max_us = absl::ToDoubleMicroseconds(max_time);
  bool enough = false;
  // Drawn uniformly among the batches that every measurement has.
  int batches_to_late_inputs =
      late_inputs ? static_cast<int>(dealer.rng().NextBelow(kBatchesPerMeasurement)) : -1;
  while (true) {
    const int done = static_cast<int>(measurement.latency_us.size());
    const double most = std::clamp(max_us / kBatchesPerMeasurement / std::max(call_us, 1e-3), 1.0,
                                   static_cast<double>(std::max(1, plan.max_calls() - done)));
    // Half to all of that, so that a batch's length tells the candidate nothing.
    const int calls = static_cast<int>(std::ceil(most * (0.5 + 0.5 * dealer.rng().NextDouble())));
    if (batches_to_late_inputs-- == 0) {
      bool seen = false;
      measurement.ending = RunLateBatch(
          dealer, calls,
          [&](const std::vector<WorkloadSession::Call>& late, bool* in_time) {
            return session.RunWithLateInputs(late, {}, limits, in_time);
          },
          &seen);
      if (!measurement.ending.passed()) return measurement;
    }
    // The last batch comes unannounced.
    const int oracled = enough ? dealer.oracled_left() : dealer.DrawOracles();
    if (metronome != nullptr) {
      ASSIGN_OR_RETURN(const absl::Duration round_trip, metronome->Tick());
      measurement.audit.AddRoundTrip(round_trip);
    }
    const WorkloadSession::Batch batch =
        session.Run(dealer.Deal(std::max(calls, enough ? oracled : 1), oracled),
                    WorkloadSession::Mode::kTimed, oracles, limits);
    measurement.ending = batch.ending;
    if (!batch.ending.passed()) return measurement;
    measurement.latency_us.insert(measurement.latency_us.end(), batch.latency_us.begin(),
                                  batch.latency_us.end());
    measurement.inner += batch.inner;
    // Waits of this process and of the runner add up and may exceed the batch. On a machine where
    // they do, a program could otherwise claim that its calls took no time.
    const absl::Duration worked = std::max(batch.inner - batch.waited_for_others, batch.inner / 2);
    measurement.batch_mean_us.push_back(absl::ToDoubleMicroseconds(worked) /
                                        static_cast<double>(std::max<size_t>(1, batch.calls)));
    measurement.audit.AddBatch(batch);
    if (enough) return measurement;
    const int now_done = static_cast<int>(measurement.latency_us.size());
    enough = now_done >= plan.min_calls() &&
             (now_done >= plan.max_calls() || measurement.inner >= max_time ||
              clock.SteadyNow() >= wall_end ||
              RelativeHalfWidth(measurement.latency_us) <= plan.target_half_width());
  }
}

}  // namespace

int RotationSets(int64_t footprint_bytes, int64_t last_level_cache_bytes, int64_t max_bytes) {
  const int64_t footprint = std::max<int64_t>(footprint_bytes, 1);
  const int64_t wanted = (kCacheMultiples * last_level_cache_bytes + footprint - 1) / footprint + 1;
  const int64_t sets = std::clamp<int64_t>(wanted, kMinSets, kMaxSets);
  return static_cast<int>(std::clamp<int64_t>(max_bytes / footprint, 1, sets));
}

CallDealer::CallDealer(int sets, std::vector<int64_t> oracled, Rng rng)
    : deck_(static_cast<size_t>(sets)),
      round_(static_cast<size_t>(sets - WorkloadSession::Decoys(sets))),
      dealt_(round_),
      oracled_(std::move(oracled)),
      kept_for_last_((oracled_left() + 2) / 3),
      next_fresh_(kFirstFreshVariant + static_cast<int64_t>(rng.NextBelow(kFreshBeginnings))),
      rng_(rng) {
  std::iota(deck_.begin(), deck_.end(), 0);
  Shuffle(&oracled_, &rng_);
}

int CallDealer::DrawOracles() {
  return std::min(std::max(0, oracled_left() - kept_for_last_),
                  static_cast<int>(rng_.NextBelow(kMaxOraclesPerBatch + 1)));
}

std::vector<WorkloadSession::Call> CallDealer::Deal(int calls, int oracled) {
  if (dealt_ == round_) {
    Shuffle(&deck_, &rng_);
    dealt_ = 0;
  }
  std::vector<WorkloadSession::Call> dealt;
  while (static_cast<int>(dealt.size()) < std::max(1, calls) && dealt_ < round_) {
    dealt.push_back({deck_[dealt_++], next_fresh_++});
  }
  PutOracles(oracled, &dealt);
  return dealt;
}

std::vector<WorkloadSession::Call> CallDealer::DealTo(const std::vector<int>& sets, int oracled) {
  std::vector<WorkloadSession::Call> dealt;
  for (const int set : sets) dealt.push_back({set, next_fresh_++});
  PutOracles(oracled, &dealt);
  return dealt;
}

std::vector<int> CallDealer::PickSets(int count) {
  std::vector<int> sets(deck_.size());
  std::iota(sets.begin(), sets.end(), 0);
  Shuffle(&sets, &rng_);
  sets.resize(std::min(sets.size(), static_cast<size_t>(std::max(1, count))));
  return sets;
}

void CallDealer::PutOracles(int oracled, std::vector<WorkloadSession::Call>* calls) {
  std::vector<size_t> places(calls->size());
  std::iota(places.begin(), places.end(), size_t{0});
  Shuffle(&places, &rng_);
  for (size_t i = 0; i < places.size() && oracled > 0 && !oracled_.empty(); ++i, --oracled) {
    (*calls)[places[i]].variant = oracled_.back();
    oracled_.pop_back();
  }
}

std::vector<double> BelievedLatency(std::vector<double> latency_us,
                                    const std::vector<double>& batch_mean_us) {
  if (batch_mean_us.empty()) return latency_us;
  std::vector<double> sorted = batch_mean_us;
  std::sort(sorted.begin(), sorted.end());
  if (sorted[(sorted.size() - 1) / 2] > kMaxUnevenness * Median(latency_us)) {
    for (size_t i = 0; i < latency_us.size(); ++i) latency_us[i] = batch_mean_us[i % sorted.size()];
  }
  return latency_us;
}

void ClockAudit::AddBatch(const WorkloadSession::Batch& batch) {
  batches_.push_back({batch.inner, batch.audit, batch.waited, batch.calls});
}

absl::Duration ClockAudit::RoundTrip(double quantile) const {
  std::vector<double> micros;
  for (const absl::Duration trip : round_trips_) {
    micros.push_back(absl::ToDoubleMicroseconds(trip));
  }
  return absl::Microseconds(Quantile(std::move(micros), quantile));
}

double ClockAudit::Ratio() const {
  const absl::Duration round_trip = RoundTrip(0);
  absl::Duration inner, escaped;
  for (const Batch& batch : batches_) {
    inner += batch.inner;
    escaped +=
        std::max(batch.audit - batch.waited - round_trip - batch.inner, absl::ZeroDuration());
  }
  return 1 + absl::FDivDuration(escaped, std::max(inner, absl::Nanoseconds(1)));
}

bool ClockAudit::TimeEscaped() const {
  const absl::Duration per_batch = kAuditRoundTrips * RoundTrip(0.9) + kAuditPerBatch;
  std::vector<double> escaped_us;
  for (const Batch& batch : batches_) {
    const absl::Duration allowed =
        kMaxAuditRatio * batch.inner + per_batch + kAuditPerCall * static_cast<double>(batch.calls);
    escaped_us.push_back(absl::ToDoubleMicroseconds(batch.audit - batch.waited - allowed));
  }
  return Median(std::move(escaped_us)) > 0;
}

Ending WarmUp(WorkloadSession& session, CallDealer& dealer, int least_calls, absl::Duration least,
              const WorkloadSession::Limits& limits, const Clock& clock, double* call_us) {
  const absl::Time end = clock.SteadyNow() + least;
  std::vector<double> latency_us;
  // Starts with one call, because the batch length is not known yet.
  int calls = 1;
  do {
    const WorkloadSession::Batch batch =
        session.Run(dealer.Deal(calls, 0), WorkloadSession::Mode::kTimed, {}, limits);
    if (!batch.ending.passed()) return batch.ending;
    latency_us.insert(latency_us.end(), batch.latency_us.begin(), batch.latency_us.end());
    *call_us = Median(latency_us);
    calls = static_cast<int>(
        std::clamp(absl::ToDoubleMicroseconds(least) / 4 / std::max(*call_us, 1e-3), 1.0, 64.0));
  } while (clock.SteadyNow() < end || static_cast<int>(latency_us.size()) < least_calls);
  return {};
}

absl::StatusOr<Sampling> Sample(WorkloadSession& session, CallDealer& dealer,
                                const OracleEntries& oracles, const v1::MeasurePlan& plan,
                                Metronome* metronome, int late_comparisons,
                                const WorkloadSession::Limits& limits, const Clock& clock) {
  Sampling sampling;
  double call_us = 0;
  sampling.ending = WarmUp(session, dealer, kWarmUpCalls, kWarmUpTime, limits, clock, &call_us);
  for (int attempt = 1; sampling.ending.passed(); ++attempt) {
    session.CompareLater(late_comparisons);
    ASSIGN_OR_RETURN(Measurement measurement,
                     Measure(session, dealer, oracles, plan, metronome,
                             late_comparisons > 0 && attempt == 1, limits, clock, call_us));
    sampling.ending = measurement.ending;
    if (metronome != nullptr) {
      measurement.latency_us =
          BelievedLatency(std::move(measurement.latency_us), measurement.batch_mean_us);
    }
    sampling.samples = Summarize(std::move(measurement.latency_us));
    if (metronome == nullptr || !sampling.ending.passed()) break;
    sampling.audit_ratio = measurement.audit.Ratio();
    if (!measurement.audit.TimeEscaped()) break;
    if (attempt == kAuditAttempts) {
      sampling.ending = {
          v1::OUTCOME_CHEAT,
          absl::StrFormat("audit clock: calls took %.2fx the time that they reported; work outside "
                          "the timed call, or a forged clock",
                          sampling.audit_ratio)};
      break;
    }
    sampling.ending = WarmUp(session, dealer, kWarmUpCalls,
                             kAuditCoolDown * (1 << (2 * (attempt - 1))), limits, clock, &call_us);
  }
  return sampling;
}

}  // namespace ksearch
