#ifndef KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace ksearch {

// Constants of checking and timing that are no part of a job (those are in
// common/measure_defaults.h). A change of any of them changes what numbers mean: raise
// harness_version of the device fingerprint with it.

// Variants that are compared with the oracle. 0 and 1 go through the same buffers in the
// correctness gate, so that answers remembered by address are wrong; the others hide among timed
// calls. More cost more reference runs, which are shared by all candidates of a task.
inline constexpr int kGateVariants = 2;
inline constexpr int kMinTimedOracles = 1;
inline constexpr int kMaxTimedOracles = 6;
// Time one workload may spend on reference runs for timed calls.
inline constexpr absl::Duration kOracleTimePerWorkload = absl::Milliseconds(300);
// Calls chosen after they were made, of all that count, whose outputs are compared with oracles
// made for them: as many as this time of reference runs allows, a workload of a screening and all
// launches of a workload of a confirmation; where not even one is, one with at least this
// likelihood.
inline constexpr absl::Duration kLateOracleTime = absl::Milliseconds(150);
inline constexpr double kMaxLateComparisons = 2;
inline constexpr double kMinLateComparisons = 0.25;
// Batches tried for one in which inputs came late, but in time: short calls may be made before the
// verifier is at it.
inline constexpr int kLateInputTries = 3;
// The share of launches in which a workload has such a batch on a CPU, where it costs both sides as
// much as a block. On a GPU it is cheap and often too late, so that all launches have it.
inline constexpr double kHostLateInputShare = 0.5;
// The share of launches of a workload that has hidden cases in which one of these comes up: a
// program must not tell processes that are timed from those that hidden cases are for.
inline constexpr double kHiddenShare = 0.5;
// Screenings share oracles by sharing seeds: one job in so many draws a fresh one, and at most so
// many are in use.
inline constexpr int kJobsPerScreeningSeed = 4;
inline constexpr int kScreeningSeeds = 4;
// Timed calls without an oracle take variants from here on, each once, beginning anywhere among so
// many.
inline constexpr int64_t kFirstFreshVariant = 1000;
// The further trials of a suite's rule, on variants that nothing else gets, take reference runs of
// a workload for at most this long.
inline constexpr int64_t kFirstTrialVariant = int64_t{1} << 29;
inline constexpr absl::Duration kTrialTimePerWorkload = absl::Seconds(2);
inline constexpr uint64_t kFreshBeginnings = 8192;
// Programs that draw tokens at random, on each workload: calls on inputs of their own, as many as
// flashinfer-bench looks at one by one, and rows of each whose tokens' places are looked at; then
// calls on equal inputs, so many with one message. Both also end when their time is over.
inline constexpr int kFreshDrawCalls = 100;
inline constexpr int kFreshDrawRows = 4;
inline constexpr absl::Duration kFreshDrawsTime = absl::Seconds(2);
inline constexpr int kEqualDrawSets = 64;
inline constexpr absl::Duration kEqualDrawsTime = absl::Seconds(6);

// Buffer sets: R = clamp(ceil(3 * LLC / footprint) + 1, 2, 64), so that a set is out of the last
// level cache when its turn comes again.
inline constexpr int kCacheMultiples = 3;
inline constexpr int kMinSets = 2;
inline constexpr int kMaxSets = 64;

// A timed batch may take this many times as long as its calls should by what the slowest batch
// before it took a call, and this much more: a hang inside a large batch must not hold the device
// for limits.call_time times its calls.
inline constexpr double kHangFactor = 20;
inline constexpr absl::Duration kHangSlack = absl::Seconds(2);

// Warm-up: at least this many calls and this long, wall clock.
inline constexpr int kWarmUpCalls = 3;
inline constexpr absl::Duration kWarmUpTime = absl::Milliseconds(50);
inline constexpr int kConfirmWarmUpCalls = 2;
inline constexpr absl::Duration kConfirmWarmUpTime = absl::Milliseconds(15);
inline constexpr absl::Duration kHostConfirmWarmUpTime = absl::Milliseconds(10);
// A workload may take this many times its measuring time, counting preparation and checks.
inline constexpr double kWallPerMeasureTime = 2.5;

// Audit: the verifier's clock beyond this multiple of the runner's clock, plus the allowances
// below, means that work escaped the runner's clock.
inline constexpr double kMaxAuditRatio = 1.25;
// For the loop around a call, and for a batch: so many times the 90 % quantile of idle round trips
// measured in between, plus a constant.
inline constexpr absl::Duration kAuditPerCall = absl::Microseconds(1);
inline constexpr double kAuditRoundTrips = 1.5;
inline constexpr absl::Duration kAuditPerBatch = absl::Microseconds(20);
// On a CPU: mean calls of batches count where they are beyond this multiple of the median call.
inline constexpr double kMaxUnevenness = 2;
// A shared machine may be busy for a while: a workload is measured again before it is called
// forged.
// After ever longer runs of calls that look like the measured ones (a pause would tell the
// candidate that it is suspected).
inline constexpr int kAuditAttempts = 5;
inline constexpr absl::Duration kAuditCoolDown = absl::Milliseconds(30);

// ---- GPUs. Where no other source is named: measured on one H200, or derived from that.

// Outputs of a workload that buffers on a GPU have at most.
inline constexpr int kMostDeviceOutputs = 32;
// More than this many times the device's time spent by the host makes a call host-bound.
inline constexpr double kHostBound = 1.5;
// The replay of a chain lasts about this long if there are buffer sets enough.
inline constexpr double kChainMicros = 600;
// One sample a batch (replays, the verifier's clock): at least twice the 6 that an order-statistic
// interval at 95 % needs; more than the upper number, drawn between these two for every
// measurement so that no batch is known to be the last, no longer narrow it.
inline constexpr size_t kMinDeviceBatches = 12;
inline constexpr size_t kLeastMaxDeviceBatches = 28;
inline constexpr size_t kMostMaxDeviceBatches = 44;
// Clocks are steady when the means of two windows of this length differ by less than this; after
// the longest warm-up they are taken as they are. Later workloads of the same process find a warm
// device.
inline constexpr absl::Duration kClockWindow = absl::Milliseconds(10);
inline constexpr double kSteadyClock = 0.01;
inline constexpr absl::Duration kMaxWarmUpTime = absl::Milliseconds(500);
inline constexpr absl::Duration kRewarmTime = absl::Milliseconds(10);
// A batch does not count if the SM clock is below this share of the measurement's median, or NVML
// gives one of these reasons: hardware slowdown 0x8, software thermal 0x20, hardware thermal 0x40,
// power brake 0x80. The software power cap (0x4) is recorded only: it is how the device works.
inline constexpr double kLeastClock = 0.97;
inline constexpr uint64_t kThrottleReasons = 0x8 | 0x20 | 0x40 | 0x80;
inline constexpr absl::Duration kThrottlePause = absl::Milliseconds(250);
inline constexpr int kMaxThrottled = 5;
// Audit: a call queued behind others may cost this much beside its device time.
inline constexpr absl::Duration kDeviceAuditPerCall = absl::Microseconds(5);
// And a batch beside its calls, an idle round trip and kAuditPerBatch: 5 to 100 us where compilers
// keep the processors busy. A confirmation does without the runner's clock.
inline constexpr absl::Duration kDeviceAuditPerBatch = absl::Microseconds(50);
// Looking outputs over may take so much longer than when nothing was at work: this share of the
// batch, but at least and at most this long. Of 300 medians of honest programs' batches none was 15
// us longer, their standard deviation was 4 us. The batches of a confirmation last 5 ms, or 192
// calls.
inline constexpr double kMaxLateShare = 0.005;
inline constexpr absl::Duration kLeastLateWork = absl::Microseconds(12);
inline constexpr absl::Duration kMaxLateWork = absl::Microseconds(30);
// An idle runner's lead-in and round trip, one in ten of those between a program's batches, beyond
// these and beyond so many times the longest without the program: it keeps the device while it is
// stopped. Of 230 measurements of honest programs the longest were 0.44 and 0.10 ms, with 14
// compilers at work.
inline constexpr absl::Duration kBusyLeadIn = absl::Milliseconds(1);
inline constexpr absl::Duration kBusyRoundTrip = absl::Microseconds(250);
inline constexpr double kBusyFactor = 3;
// Calls made one at a time, each checked before the next is prepared.
inline constexpr int kLockStepCalls = 16;
inline constexpr int kMinLockStepCalls = 4;
// As many are made in the first launch of a GPU's confirmation, and so many in every later one.
inline constexpr int kLaterLockStepCalls = 6;
// What a call of a confirmation may take longer by itself than in a batch, on a GPU: a share of
// what it takes there, and so much more. On an H200, 6 honest programs, 8 workloads of 7 to 180 us
// each: at most 1.3 us and 5 %.
inline constexpr double kAloneShare = 0.25;
inline constexpr double kAloneMicros = 2;
inline constexpr absl::Duration kLockStepTime = absl::Milliseconds(100);
// Faster than this share of the physical floor is impossible. On a CPU the floor is measured with
// reads and with multiply-adds alone: cores that store beside two loads move 1.5 times as much, and
// clocks rise and fall.
inline constexpr double kImpossible = 0.9;
inline constexpr double kImpossibleOnHost = 0.5;
// MeasurePlan.early_stop_ratio is judged after this many calls.
inline constexpr int kEarlyStopCalls = 8;

// More than this share of calls beyond 1.5x the median: `unstable`.
inline constexpr double kUnstableShare = 0.05;
inline constexpr double kUnstableFactor = 1.5;

// Confirmation.
// A workload whose whole interval lies below this makes "improved" "mixed".
inline constexpr double kWorstRegression = 0.03;
inline constexpr int kMaxBatchesPerBlock = 16;
// On a GPU the switch from the verifier's context to the runner's takes 180 to 250 us, one time in
// five 350 to 450: it happens in a lead-in before the clock starts. A lead-in of more than so many
// times the median of one of a runner without a program voids the batch; if that happens more often
// than this in a block, the excess counts as time of the calls.
inline constexpr double kMaxLeadIn = 1.25;
// The median of a confirmation is that between batches, as far as it is no more than so many times
// that of the same runner before candidate and rival were there.
inline constexpr double kMaxCrowdedLeadIn = 1.5;
inline constexpr absl::Duration kLeastLeadIn = absl::Microseconds(280);  // always allowed
inline constexpr int kMaxVoidBatchesPerBlock = 12;
inline constexpr size_t kFirstLeadIns = 7;
// What is left of a batch's own cost, about 20 us, varies by a few: a batch is this long if there
// are buffer sets enough, of the same number of calls on both sides, and a block takes the median
// of its batches. Sets are as many as the cache asks for; or, if that is more, this many times the
// calls of a batch, up to kMaxConfirmDeviceSets and as far as this many bytes allow: to allocate
// and map 1000 buffers that no batch needs takes 0.2 to 0.6 s a launch and workload on an H200.
inline constexpr double kConfirmBatchMicros = 5000;
inline constexpr double kSetsPerCallOfBatch = 1.25;
inline constexpr int64_t kConfirmSetsBytes = int64_t{12} << 30;
inline constexpr int kMaxDeviceBatchesPerBlock = 16;
// Both sides use the same buffers, one after the other: physical addresses alone make a difference
// of some percent.
inline constexpr int kMaxConfirmDeviceSets = 192;
// Where by both clocks one side takes this many times as long as the other, a block ends: batches
// of the same number of calls make a block of the faster side long, and more of them tell a clear
// case no better, while most of their time goes into preparing inputs.
inline constexpr double kClearRatio = 1.5;
// A block is long enough with this share of min_block_time, since a batch cannot be split.
inline constexpr double kEnoughOfBlock = 0.6;
// Both sides meet the same cache, so fewer sets do; mapping them costs more than calling.
inline constexpr int kMaxConfirmSets = 16;
// More sets if all of a side's take at most so much: of short calls a batch should have many.
inline constexpr int64_t kCheapConfirmBytes = int64_t{16} << 20;

// Hidden cases of a confirmation: time for reference runs, as the first runs took.
inline constexpr absl::Duration kHiddenCaseTime = absl::Seconds(3);
// compute-sanitizer at a confirmation: all tools together, and one of them. A small kernel takes
// less than two seconds a tool.
inline constexpr absl::Duration kSanitizerTime = absl::Seconds(120);
inline constexpr absl::Duration kSanitizerToolTime = absl::Seconds(50);
// The cheap tools of an examination together: the search waits for them.
inline constexpr absl::Duration kCheapSanitizerTime = absl::Seconds(40);
// The second witness: calls with delays, and those without before them, on each workload; time for
// all of them.
inline constexpr int kWitnessCalls = 12;
inline constexpr int kWitnessPlainCalls = 4;
inline constexpr absl::Duration kWitnessTime = absl::Seconds(40);
// A profile by ncu.
inline constexpr absl::Duration kProfileTime = absl::Seconds(60);

// A runner that was killed, or met an error of the device, says nothing about the candidate, unless
// it is so every time.
inline constexpr int kUnexplainedTries = 3;

// Bytes kept between jobs: drawn inputs, oracles. Buffers keep at most max_rotation_bytes.
inline constexpr int64_t kCaseCacheBytes = int64_t{512} << 20;
inline constexpr int64_t kOracleCacheBytes = int64_t{512} << 20;

inline constexpr int64_t kMaxMessageBytes = 2048;
inline constexpr int64_t kMaxStderrBytes = int64_t{8} << 10;

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_
