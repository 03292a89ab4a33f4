#include "gpu_worker/verifier/timing/suite_time.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/textproto.h"

namespace ksearch {
namespace {

// No suite stops earlier.
constexpr size_t kLeastCalls = 3;
// A batch of calls takes about this long at most.
constexpr double kBatchMicros = 1e6;
constexpr size_t kMostCallsOfBatch = 64;

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double DeviationOf(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = MeanOf(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

int CallsOf(const v1::SuiteClock& clock) { return std::max(1, clock.calls()); }

// Calls on one input variant, warm-up included.
Ending TimeVariant(WorkloadSession& session, const v1::SuiteClock& clock,
                   const v1::BatchRequest::Preparation& preparation,
                   const WorkloadSession::Limits& limits, std::vector<double>* calls_us) {
  session.FillForSuite();
  if (clock.warm_up_calls() > 0) {
    WorkloadSession::SuiteCalls warm =
        session.RunForSuite(clock.warm_up_calls(), preparation, limits);
    if (!warm.ending.passed()) return std::move(warm.ending);
  }
  const auto wanted = static_cast<size_t>(CallsOf(clock));
  while (calls_us->size() < wanted) {
    const double mean = std::max(MeanOf(*calls_us), 1.0);
    const size_t next = calls_us->empty() ? kLeastCalls
                                          : std::clamp(static_cast<size_t>(kBatchMicros / mean),
                                                       size_t{1}, kMostCallsOfBatch);
    // One call more, which does not count: it makes what a suite's form keeps from call to call.
    WorkloadSession::SuiteCalls made = session.RunForSuite(
        1 + static_cast<int>(std::min(next, wanted - calls_us->size())), preparation, limits);
    if (!made.ending.passed()) return std::move(made.ending);
    if (!made.us.empty()) calls_us->insert(calls_us->end(), made.us.begin() + 1, made.us.end());
    if (const size_t count = CallsThatCount(*calls_us, clock); count > 0) {
      calls_us->resize(count);
      break;
    }
  }
  return {};
}

}  // namespace

size_t CallsThatCount(const std::vector<double>& calls_us, const v1::SuiteClock& clock) {
  const auto most = static_cast<size_t>(CallsOf(clock));
  const double most_us = absl::ToDoubleMicroseconds(FromProto(clock.most_time()));
  std::vector<double> so_far;
  for (const double us : calls_us) {
    so_far.push_back(us);
    if (so_far.size() == most) return most;
    if (so_far.size() < kLeastCalls) continue;
    const double mean = MeanOf(so_far);
    const auto count = static_cast<double>(so_far.size());
    const double error = DeviationOf(so_far) / std::sqrt(count);
    if (clock.relative_error() > 0 && error < clock.relative_error() * mean) return so_far.size();
    if (most_us > 0 && mean * count > most_us) return so_far.size();
  }
  return 0;
}

v1::BatchRequest::Preparation PreparationOf(const v1::SuiteClock& clock, int sets) {
  v1::BatchRequest::Preparation preparation;
  preparation.set_flush_bytes(clock.flush_bytes());
  // With only one set, there is no other place from which to copy.
  if (clock.copies_inputs() && sets > 1) preparation.set_copied_set(1);
  preparation.set_waits(clock.waits());
  return preparation;
}

v1::SuiteTime TimeOfCalls(const std::vector<double>& calls_us) {
  v1::SuiteTime time;
  time.set_mean_us(MeanOf(calls_us));
  time.set_standard_deviation_us(DeviationOf(calls_us));
  time.set_calls(static_cast<int>(calls_us.size()));
  return time;
}

Ending TimeAsSuite(WorkloadSession& session, const v1::SuiteClock& clock, int sets,
                   const WorkloadSession::Limits& limits, v1::SuiteTime* time) {
  time->Clear();
  const v1::BatchRequest::Preparation preparation = PreparationOf(clock, sets);
  v1::SuiteTime measured;
  const int variants = std::max(1, clock.variants());
  double sum_us = 0;
  for (int variant = 0; variant < variants; ++variant) {
    std::vector<double> calls_us;
    Ending ending = TimeVariant(session, clock, preparation, limits, &calls_us);
    if (!ending.passed()) return ending;
    const v1::SuiteTime one = TimeOfCalls(calls_us);
    sum_us += one.mean_us();
    measured.set_calls(measured.calls() + one.calls());
    measured.set_standard_deviation_us(one.standard_deviation_us());
  }
  measured.set_mean_us(sum_us / variants);
  *time = std::move(measured);
  return {};
}

}  // namespace ksearch
