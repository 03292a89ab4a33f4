#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_SAMPLER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/rng.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/metronome.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// How many buffer sets to rotate: clamp(ceil(3 * LLC / footprint) + 1, 2, 64), limited by
// `max_bytes`, but at least one.
int RotationSets(int64_t footprint_bytes, int64_t last_level_cache_bytes, int64_t max_bytes);

// Chooses the set and the variant of each call. Sets come in rounds in random order, each at most
// once per round, and some are left out as decoys (WorkloadSession::Decoys). Variants are new for
// each call; some calls, at random places, get one with an oracle. Thread-compatible.
class CallDealer {
 public:
  // `oracled`: variants with an oracle, each used once, in random order.
  CallDealer(int sets, std::vector<int64_t> oracled, Rng rng);

  // The next `calls` calls; fewer, but at least one, if the round of sets ends. Up to `oracled` of
  // them get a variant with an oracle, while there are any left.
  std::vector<WorkloadSession::Call> Deal(int calls, int oracled);

  // Calls on these sets, with variants chosen as by Deal; does not affect the round of sets.
  std::vector<WorkloadSession::Call> DealTo(const std::vector<int>& sets, int oracled);
  // Distinct random sets, in random order.
  std::vector<int> PickSets(int count);

  // Draws the number of oracles for the next batch, at random, so that no batch is known to have
  // any. Reserves a third of all oracles for the last batch, which gets the rest.
  int DrawOracles();
  int sets() const { return static_cast<int>(deck_.size()); }
  // The most calls of one batch: the sets that are left beside its decoys.
  int most_calls() const { return static_cast<int>(round_); }
  int oracled_left() const { return static_cast<int>(oracled_.size()); }
  Rng& rng() { return rng_; }
  // Chooses one of several places: to be asked at each until the answer is yes; `left` counts this
  // one and those that follow.
  bool IsTheOne(int left) { return rng_.NextBelow(static_cast<uint64_t>(left)) == 0; }

 private:
  void PutOracles(int oracled, std::vector<WorkloadSession::Call>* calls);

  std::vector<int> deck_;
  const size_t round_;  // how many sets of the deck
  size_t dealt_;
  std::vector<int64_t> oracled_;
  const int kept_for_last_;
  int64_t next_fresh_;
  Rng rng_;
};

// The result of timing one program on one workload.
struct Sampling {
  Ending ending;
  v1::Samples samples;
  // ClockAudit::Ratio(); 0 without a metronome.
  double audit_ratio = 0;
};

// Times a session by the protocol of docs/measuring.md: warm-up, then batches of several calls
// until the 95 % interval of the median is narrower than +-plan.target_half_width or
// plan.max_time_per_workload is spent, but not before plan.min_calls. The outputs of every call are
// judged. With a metronome (for untrusted programs), the outcome is CHEAT if, in kAuditAttempts
// measurements in a row, the verifier's clock shows time that the runner's clock does not explain.
// The session keeps `late_comparisons` of the calls that count. Non-OK is an error of this machine.
absl::StatusOr<Sampling> Sample(WorkloadSession& session, CallDealer& dealer,
                                const OracleEntries& oracles, const v1::MeasurePlan& plan,
                                Metronome* metronome, int late_comparisons,
                                const WorkloadSession::Limits& limits, const Clock& clock);

// Only warms up: at least `least_calls` calls and `least` of wall-clock time. *call_us is the
// median call.
Ending WarmUp(WorkloadSession& session, CallDealer& dealer, int least_calls, absl::Duration least,
              const WorkloadSession::Limits& limits, const Clock& clock, double* call_us);

// The times that count for a program that is not trusted. The audit measures the total time of a
// batch, not how it is divided among the calls: a program that does the work of many calls in one
// of them, or claims to, could have a median call that takes no time. So if the mean call took more
// than kMaxUnevenness times the median call in most batches, the batches' means count instead, with
// equal weights, in as many samples as there were calls.
std::vector<double> BelievedLatency(std::vector<double> latency_us,
                                    const std::vector<double>& batch_mean_us);

// Compares the two clocks over many batches.
class ClockAudit {
 public:
  void AddBatch(const WorkloadSession::Batch& batch);
  void AddRoundTrip(absl::Duration idle_round_trip) { round_trips_.push_back(idle_round_trip); }
  // 1 plus the time not explained by calls, the shortest round trip, or waits for a core, as a
  // share of the time by the runner's clock.
  double Ratio() const;
  // Returns true if the median batch took longer than its calls and waits for a core can explain.
  bool TimeEscaped() const;

 private:
  absl::Duration RoundTrip(double quantile) const;

  struct Batch {
    absl::Duration inner;
    absl::Duration audit;
    absl::Duration waited;
    size_t calls = 0;
  };
  std::vector<Batch> batches_;
  std::vector<absl::Duration> round_trips_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_SAMPLER_H_
