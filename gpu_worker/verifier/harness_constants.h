#ifndef KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace ksearch {

// Constants of checking and timing that are not part of a job (those are in
// common/measure_defaults.h). Changing any of them changes what numbers mean, so raise
// harness_version of the device fingerprint as well.

// Variants that are compared with the oracle. 0 and 1 go through the same buffers in the
// correctness gate, so that answers remembered by address are wrong; the others are hidden among
// timed calls. More variants cost more reference runs, which all candidates of a task share.
inline constexpr int kGateVariants = 2;
inline constexpr int kMinTimedOracles = 1;
inline constexpr int kMaxTimedOracles = 6;
// The time that one workload may spend on reference runs for timed calls.
inline constexpr absl::Duration kOracleTimePerWorkload = absl::Milliseconds(300);
// How many of the calls that count are chosen after they were made and compared with oracles made
// for them: as many as this much reference time allows, for each workload of a screening, or for
// all launches of a workload of a confirmation. If the time is not enough for one call, one is
// compared with at least this probability.
inline constexpr absl::Duration kLateOracleTime = absl::Milliseconds(150);
inline constexpr double kMaxLateComparisons = 2;
inline constexpr double kMinLateComparisons = 0.25;
// How many batches are tried until late inputs arrive in time: short calls may be over before the
// verifier can deliver them.
inline constexpr int kLateInputTries = 3;
// The share of launches in which a workload has such a batch on a CPU, where it costs both sides as
// much as a block. On a GPU it is cheap but often too late, so all launches have it.
inline constexpr double kHostLateInputShare = 0.5;
// For a workload with hidden cases: the share of its launches that contain one. A program must not
// be able to tell timed processes from processes for hidden cases.
inline constexpr double kHiddenShare = 0.5;
// Screenings share oracles by sharing seeds: one job in kJobsPerScreeningSeed draws a fresh seed,
// and at most kScreeningSeeds are in use.
inline constexpr int kJobsPerScreeningSeed = 4;
inline constexpr int kScreeningSeeds = 4;
// Timed calls without an oracle use variants from here on, each once, starting at a random one of
// kFreshBeginnings.
inline constexpr int64_t kFirstFreshVariant = 1000;
// The additional trials of a suite's rule use variants that nothing else uses. Their reference runs
// may take at most this long per workload.
inline constexpr int64_t kFirstTrialVariant = int64_t{1} << 29;
inline constexpr absl::Duration kTrialTimePerWorkload = absl::Seconds(2);
inline constexpr uint64_t kFreshBeginnings = 8192;
// For programs that draw tokens at random, on each workload: the number of calls on different
// inputs (as many as flashinfer-bench checks one by one), and the rows of each call whose tokens'
// places are checked; then calls on equal inputs, this many per message. Both also end when their
// time is over.
inline constexpr int kFreshDrawCalls = 100;
inline constexpr int kFreshDrawRows = 4;
inline constexpr int kTimedDrawRows = 8;
inline constexpr absl::Duration kFreshDrawsTime = absl::Seconds(2);
inline constexpr int kEqualDrawSets = 64;
inline constexpr absl::Duration kEqualDrawsTime = absl::Seconds(6);

// Buffer sets: R = clamp(ceil(3 * LLC / footprint) + 1, 2, 64), so that a set has left the
// last-level cache before its next turn.
inline constexpr int kCacheMultiples = 3;
inline constexpr int kMinSets = 2;
inline constexpr int kMaxSets = 64;

// A timed batch may take this many times as long as its calls would at the slowest earlier batch's
// time per call, plus this slack. A hang inside a large batch must not occupy the device for
// limits.call_time times its number of calls.
inline constexpr double kHangFactor = 20;
inline constexpr absl::Duration kHangSlack = absl::Seconds(2);

// Warm-up: at least this many calls, for at least this long in wall-clock time.
inline constexpr int kWarmUpCalls = 3;
inline constexpr absl::Duration kWarmUpTime = absl::Milliseconds(50);
inline constexpr int kConfirmWarmUpCalls = 2;
inline constexpr absl::Duration kConfirmWarmUpTime = absl::Milliseconds(15);
inline constexpr absl::Duration kHostConfirmWarmUpTime = absl::Milliseconds(10);
// The wall-clock time that a workload may take, including preparation and checks, as a multiple of
// its measuring time.
inline constexpr double kWallPerMeasureTime = 2.5;

// Audit: if the verifier's clock shows more than this multiple of the runner's clock, plus the
// allowances below, work escaped the runner's clock.
inline constexpr double kMaxAuditRatio = 1.25;
// Allowances: per call for the loop around it; per batch this multiple of the 90 % quantile of idle
// round trips measured in between, plus a constant.
inline constexpr absl::Duration kAuditPerCall = absl::Microseconds(1);
inline constexpr double kAuditRoundTrips = 1.5;
inline constexpr absl::Duration kAuditPerBatch = absl::Microseconds(20);
// On a CPU: if the batches' mean call takes more than this multiple of the median call, the mean
// counts.
inline constexpr double kMaxUnevenness = 2;
// A CPU's confirmation makes at most this many calls of each side alone, in each launch of each
// workload (twice as many in the first), and at most twice as many as a batch has.
inline constexpr int kHostAloneCalls = 12;
// How much longer such a call may take than one in a batch: this share of its time, plus this
// constant. Of equal programs on a machine with four times as many busy threads as cores, the
// medians of 12 calls differed by up to 20 us, on a quiet one by 3 us.
inline constexpr double kHostAloneShare = 0.1;
inline constexpr double kHostAloneMicros = 20;
// Calls up to this long are made in turn instead, if the sides' other threads use less than this
// share of a core or leave one to the verifier, which keeps it meanwhile. At least so many calls of
// each side, in at most so many batches.
inline constexpr double kMostInTurnMicros = 500;
inline constexpr double kMostOtherThreads = 0.25;
inline constexpr int kInTurnCalls = 24;
inline constexpr int kMostInTurnBatches = 4;
inline constexpr int64_t kMostInTurnBytes = int64_t{64} << 20;
// How much longer such a call may take than one in a batch: this share, plus this constant. Of
// equal programs with calls of 9 to 14 us, on two cores with four busy threads, the quantiles
// differed by up to 0.5 us in 18 launches.
inline constexpr double kInTurnShare = 0.05;
inline constexpr double kInTurnMicros = 0.5;
// How often a launch makes calls in turn or alone, as long as they take longer.
inline constexpr int kApartTries = 3;
// From this share of a call and this constant on, what they took longer than in a batch counts in
// the launch that showed it; else the median of all launches does.
inline constexpr double kClearlyApartShare = 0.1;
inline constexpr double kClearlyApartMicros = 1;
// A shared machine may be busy for a while, so a workload is measured again before its times are
// called forged. Before each new attempt there is a longer run of calls that look like measured
// ones (a pause would tell the candidate that it is suspected).
inline constexpr int kAuditAttempts = 5;
inline constexpr absl::Duration kAuditCoolDown = absl::Milliseconds(30);

// ---- GPUs. Unless another source is given, measured on one H200 or derived from that.

// The most outputs that a workload may have for its buffers to be on a GPU.
inline constexpr int kMostDeviceOutputs = 32;
// A call is host-bound if its host time exceeds this multiple of its device time.
inline constexpr double kHostBound = 1.5;
// A chain's replay lasts about this long if there are enough buffer sets.
inline constexpr double kChainMicros = 600;
// Batches that give one sample each (replays, the verifier's clock). The minimum is twice the 6
// that an order-statistic interval at 95 % needs. The maximum is drawn between the other two for
// each measurement, so that no batch is known to be the last; more batches would hardly narrow the
// interval.
inline constexpr size_t kMinDeviceBatches = 12;
inline constexpr size_t kLeastMaxDeviceBatches = 28;
inline constexpr size_t kMostMaxDeviceBatches = 44;
// Clocks are steady when the means of two windows of this length differ by less than this share;
// after the longest warm-up they are accepted as they are. Later workloads of the same process
// start on a warm device.
inline constexpr absl::Duration kClockWindow = absl::Milliseconds(10);
inline constexpr double kSteadyClock = 0.01;
inline constexpr absl::Duration kMaxWarmUpTime = absl::Milliseconds(500);
inline constexpr absl::Duration kRewarmTime = absl::Milliseconds(10);
// A batch does not count if the SM clock is below this share of the measurement's median, or if
// NVML reports one of these reasons: hardware slowdown 0x8, software thermal 0x20, hardware thermal
// 0x40, power brake 0x80. The software power cap (0x4) is only recorded, because it is part of
// normal operation.
inline constexpr double kLeastClock = 0.97;
inline constexpr uint64_t kThrottleReasons = 0x8 | 0x20 | 0x40 | 0x80;
inline constexpr absl::Duration kThrottlePause = absl::Milliseconds(250);
inline constexpr int kMaxThrottled = 5;
// Audit: a queued call may cost this much in addition to its device time.
inline constexpr absl::Duration kDeviceAuditPerCall = absl::Microseconds(5);
// The same for a batch, in addition to its calls, an idle round trip and kAuditPerBatch: 5 to 100
// us while compilers keep the processors busy. Confirmations do not use the runner's clock.
inline constexpr absl::Duration kDeviceAuditPerBatch = absl::Microseconds(50);
// An output check may take this much longer than on an idle device: this share of the batch, within
// these bounds. Of 300 medians over honest programs' batches none was 15 us longer; their standard
// deviation was 4 us. The batches of a confirmation last 5 ms, or 192 calls.
inline constexpr double kMaxLateShare = 0.005;
inline constexpr absl::Duration kLeastLateWork = absl::Microseconds(12);
inline constexpr absl::Duration kMaxLateWork = absl::Microseconds(30);
// Device squatting: one in ten of an idle runner's lead-ins or round trips between a program's
// batches exceeds these times and this multiple of the longest before the program was loaded. In
// 230 measurements of honest programs, with 14 compilers running, the longest were 0.44 and 0.10
// ms.
inline constexpr absl::Duration kBusyLeadIn = absl::Milliseconds(1);
inline constexpr absl::Duration kBusyRoundTrip = absl::Microseconds(250);
// The same for a small copy to the device and back beside a rival's batches: some 50 us, and at
// most 0.25 ms with 14 compilers running, but 1 ms for each that waits for another program's
// copies.
inline constexpr absl::Duration kBusyCopy = absl::Microseconds(300);
inline constexpr double kBusyFactor = 3;
// A launch in which the device was busy is repeated; so many of them are CHEAT.
inline constexpr int kMaxDisturbedLaunches = 3;
// Calls made one at a time, each checked before the next is prepared.
inline constexpr int kLockStepCalls = 16;
inline constexpr int kMinLockStepCalls = 4;
// A GPU's confirmation makes kLockStepCalls in its first launch and this many in each later one.
inline constexpr int kLaterLockStepCalls = 6;
// How much longer a call of a GPU's confirmation may take alone than in a batch: this share of its
// time in the batch, plus this constant. For 6 honest programs on an H200, with 8 workloads of 7 to
// 180 us each, it was at most 1.3 us and 5 %.
inline constexpr double kAloneShare = 0.25;
inline constexpr double kAloneMicros = 2;
// The same by the verifier's clock, which counts the round trip, too: the share, and these
// constants. Calls that cannot be recorded include the host's time, and its caches are cold in a
// call alone.
inline constexpr double kAloneAuditMicros = 25;
inline constexpr double kUnrecordedAloneShare = 1;
inline constexpr double kUnrecordedAloneMicros = 60;
// How often a launch measures them before what they take longer counts.
inline constexpr int kAloneTries = 3;
inline constexpr absl::Duration kLockStepTime = absl::Milliseconds(100);
// Times below this share of the physical floor are impossible. On a CPU the floor is measured with
// reads alone and with multiply-adds alone: cores that store in parallel with two loads move 1.5
// times as much, and clocks vary.
inline constexpr double kImpossible = 0.9;
inline constexpr double kImpossibleOnHost = 0.5;
// MeasurePlan.early_stop_ratio is checked after this many calls.
inline constexpr int kEarlyStopCalls = 8;

// A measurement is `unstable` if more than this share of calls took over 1.5x the median.
inline constexpr double kUnstableShare = 0.05;
inline constexpr double kUnstableFactor = 1.5;

// Confirmation. A workload whose whole interval shows a slowdown of more than this turns "improved"
// into "mixed".
inline constexpr double kWorstRegression = 0.03;
inline constexpr int kMaxBatchesPerBlock = 16;
// On a GPU the switch from the verifier's context to the runner's takes 180 to 250 us, and one time
// in five 350 to 450 us. It happens in a lead-in before the clock starts. A lead-in longer than
// this multiple of the median for a runner without a program voids the batch; after this many
// voided batches in a block, the excess counts as time of the calls instead.
inline constexpr double kMaxLeadIn = 1.25;
// In a confirmation, that median is taken between batches, but it counts as at most this multiple
// of the same runner's median before candidate and rival were loaded.
inline constexpr double kMaxCrowdedLeadIn = 1.5;
inline constexpr absl::Duration kLeastLeadIn = absl::Microseconds(280);  // always allowed
inline constexpr int kMaxVoidBatchesPerBlock = 12;
inline constexpr size_t kFirstLeadIns = 7;
// The remaining overhead of a batch, about 20 us, varies by a few microseconds. So a batch lasts
// this long if there are enough buffer sets, with equally many calls on both sides, and a block's
// time is the median of its batches. The number of sets is what the cache requires or, if larger,
// this multiple of a batch's calls, limited by kMaxConfirmDeviceSets and by this many bytes:
// allocating and mapping 1000 unneeded buffers takes 0.2 to 0.6 s per launch and workload on an
// H200.
inline constexpr double kConfirmBatchMicros = 5000;
// As slow as this multiple of its rival a candidate may seem in its warm-up before its batches last
// longer, instead of having fewer calls.
inline constexpr double kMostSlowerInWarmUp = 2;
inline constexpr double kSetsPerCallOfBatch = 1.25;
inline constexpr int64_t kConfirmSetsBytes = int64_t{12} << 30;
inline constexpr int kMaxDeviceBatchesPerBlock = 16;
// Both sides use the same buffers in turn, because physical addresses alone cause differences of
// several percent.
inline constexpr int kMaxConfirmDeviceSets = 192;
// If both clocks show one side to take this many times as long as the other, a block ends after one
// batch: more batches would not make a clear result clearer, and most of their time is spent on
// preparing inputs.
inline constexpr double kClearRatio = 1.5;
// A block is long enough at this share of min_block_time, because a batch cannot be split.
inline constexpr double kEnoughOfBlock = 0.6;
// Both sides meet the same cache, so fewer sets suffice; mapping them costs more than the calls.
inline constexpr int kMaxConfirmSets = 16;
// More sets if all sets of a side fit into this many bytes: a batch of short calls should have many
// calls.
inline constexpr int64_t kCheapConfirmBytes = int64_t{16} << 20;

// Hidden cases of a confirmation: the time for reference runs, estimated from the first runs.
inline constexpr absl::Duration kHiddenCaseTime = absl::Seconds(3);
// Of workloads other than the two that have all cases: so many in all, which takes a CPU one
// second, and so many bytes of inputs and outputs, which are kept for the job.
inline constexpr size_t kMostOtherHiddenCases = 24;
inline constexpr int64_t kMostOtherHiddenBytes = int64_t{512} << 20;
// compute-sanitizer in a confirmation: time for all tools together, and for one of them. A small
// kernel takes less than two seconds per tool.
inline constexpr absl::Duration kSanitizerTime = absl::Seconds(120);
inline constexpr absl::Duration kSanitizerToolTime = absl::Seconds(50);
// Time for all cheap tools of an examination, for which the search waits.
inline constexpr absl::Duration kCheapSanitizerTime = absl::Seconds(40);
// The second witness: calls with delays, and calls without before them, on each workload; time for
// all calls.
inline constexpr int kWitnessCalls = 12;
inline constexpr int kWitnessPlainCalls = 4;
inline constexpr absl::Duration kWitnessTime = absl::Seconds(40);
// A profile by ncu.
inline constexpr absl::Duration kProfileTime = absl::Seconds(60);

// A runner that is killed or meets a device error says nothing about the candidate, unless this
// happens in every one of this many tries.
inline constexpr int kUnexplainedTries = 3;

// Bytes kept between jobs for drawn inputs and for oracles. Buffers keep at most
// max_rotation_bytes.
inline constexpr int64_t kCaseCacheBytes = int64_t{512} << 20;
inline constexpr int64_t kOracleCacheBytes = int64_t{512} << 20;

inline constexpr int64_t kMaxMessageBytes = 2048;
inline constexpr int64_t kMaxStderrBytes = int64_t{8} << 10;

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_
