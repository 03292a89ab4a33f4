#include "gpu_worker/verifier/timing/device/device_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/measure_defaults.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "tests/gpu_worker/verifier/timing/device/simulated_gpu.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

// Samples the simulated program; the plan's defaults.
class Timing {
 public:
  explicit Timing(SimulatedGpu* gpu) : gpu_(*gpu) {
    options.plan = WithDefaults(v1::MeasurePlan());
  }

  absl::StatusOr<DeviceSampler::Sampled> Sample() {
    CallDealer dealer(sets, {2, 3, 4}, Rng(seed));
    ClockWatch watch(&gpu_, gpu_.clock(), [this](absl::Duration time) {
      paused += time;
      gpu_.clock().Advance(time);
    });
    DeviceSampler sampler(
        gpu_, dealer, watch, [this] { return gpu_.RoundTrip(); }, gpu_.clock(), options);
    return sampler.Sample();
  }
  DeviceSampler::Sampled SampleOk() {
    auto sampled = Sample();
    EXPECT_TRUE(sampled.ok()) << sampled.status();
    return sampled.ok() ? *std::move(sampled) : DeviceSampler::Sampled();
  }

  DeviceSampler::Options options;
  int sets = 32;
  uint64_t seed = 7;
  absl::Duration paused;

 private:
  SimulatedGpu& gpu_;
};

TEST(DeviceSamplerTest, CallsThatCannotBeRecordedAreTimedByEventsAndAudited) {
  SimulatedGpu gpu;
  const DeviceSampler::Sampled sampled = Timing(&gpu).SampleOk();
  EXPECT_TRUE(sampled.ending.passed()) << sampled.ending.message;
  EXPECT_EQ(sampled.timing, "events");
  EXPECT_FALSE(sampled.host_bound);
  EXPECT_NEAR(sampled.samples.median_us(), 50, 1e-9);
  EXPECT_GE(sampled.samples.latency_us_size(), kDefaultMinCalls);
  // The verifier's clock also includes the host's time for every call and the wait for it.
  EXPECT_NEAR(sampled.audit_ratio, (50 + 4 + SimulatedGpu::kRoundTripMicros) / 50, 0.1);
  EXPECT_NEAR(sampled.sm_clock_mhz, 1980, 1e-9);
  EXPECT_EQ(gpu.batches().count(v1::BatchRequest::REPLAY), 0u);
  EXPECT_GE(gpu.batches().at(v1::BatchRequest::FREE), kLockStepCalls);
}

TEST(DeviceSamplerTest, RecordedCallsAreReplayed) {
  SimulatedGpu gpu;
  gpu.device_us = 5;
  gpu.recordable = true;
  const DeviceSampler::Sampled sampled = Timing(&gpu).SampleOk();
  EXPECT_TRUE(sampled.ending.passed()) << sampled.ending.message;
  EXPECT_EQ(sampled.timing, "graph");
  EXPECT_NEAR(sampled.samples.median_us(), 5, 1e-9);
  EXPECT_GE(sampled.samples.latency_us_size(), static_cast<int>(kMinDeviceBatches));
  EXPECT_EQ(gpu.batches().at(v1::BatchRequest::CAPTURE), 1);
}

TEST(DeviceSamplerTest, HostBoundCallsThatCanBeRecordedAreTimedByTheDevice) {
  SimulatedGpu gpu;
  gpu.device_us = 30;
  gpu.host_us = 100;
  gpu.recordable = true;
  const DeviceSampler::Sampled sampled = Timing(&gpu).SampleOk();
  EXPECT_TRUE(sampled.ending.passed()) << sampled.ending.message;
  EXPECT_EQ(sampled.timing, "graph");
  EXPECT_TRUE(sampled.host_bound);
  EXPECT_NEAR(sampled.samples.median_us(), 30, 1e-9);
  EXPECT_NEAR(sampled.host_us, 100, 1e-9);
}

TEST(DeviceSamplerTest, HostBoundCallsThatCannotBeRecordedCountWithTheHost) {
  SimulatedGpu gpu;
  gpu.device_us = 30;
  gpu.host_us = 100;
  gpu.recordable = false;
  const DeviceSampler::Sampled sampled = Timing(&gpu).SampleOk();
  EXPECT_TRUE(sampled.ending.passed()) << sampled.ending.message;
  EXPECT_EQ(sampled.timing, "verifier_clock");
  EXPECT_TRUE(sampled.host_bound);
  EXPECT_NEAR(sampled.samples.median_us(), 130 + SimulatedGpu::kRoundTripMicros, 4);
}

TEST(DeviceSamplerTest, LateInputsComeUntilTheyWereInTime) {
  for (const int in_time_from : {0, 1, 2}) {
    SimulatedGpu gpu;
    gpu.recordable = true;
    gpu.in_time_from = in_time_from;
    Timing timing(&gpu);
    EXPECT_TRUE(timing.SampleOk().ending.passed());
    EXPECT_TRUE(gpu.late_batches.empty()) << "nobody asked for them";
    timing.options.late_inputs = true;
    const DeviceSampler::Sampled sampled = timing.SampleOk();
    EXPECT_TRUE(sampled.ending.passed()) << sampled.ending.message;
    EXPECT_EQ(static_cast<int>(gpu.late_batches.size()),
              in_time_from == 0 ? kLateInputTries : in_time_from);
    EXPECT_EQ(gpu.late_batches[0], v1::BatchRequest::REPLAY) << "as the calls that count";
    EXPECT_NEAR(sampled.samples.median_us(), gpu.device_us, 1e-9);
  }
  SimulatedGpu gpu;
  gpu.recordable = false;
  gpu.late_ending = {v1::OUTCOME_CHEAT, "output 'y' of a call that was not made was written"};
  Timing timing(&gpu);
  timing.options.late_inputs = true;
  const DeviceSampler::Sampled sampled = timing.SampleOk();
  EXPECT_EQ(sampled.ending.outcome, v1::OUTCOME_CHEAT);
  EXPECT_EQ(sampled.ending.message, gpu.late_ending.message);
  EXPECT_EQ(gpu.late_batches, std::vector<v1::BatchRequest::Mode>{v1::BatchRequest::FREE});
}

TEST(DeviceSamplerTest, AFailedRecordingIsTakenBackOrNeedsANewProcess) {
  SimulatedGpu gpu;
  gpu.device_us = 5;
  gpu.recordable = false;
  EXPECT_EQ(Timing(&gpu).SampleOk().timing, "events");

  SimulatedGpu fragile;
  fragile.device_us = 5;
  fragile.recordable = false;
  fragile.breaks_when_recorded = true;
  const DeviceSampler::Sampled sampled = Timing(&fragile).SampleOk();
  EXPECT_TRUE(sampled.ending.passed());
  EXPECT_TRUE(sampled.spoiled);
}

TEST(DeviceSamplerTest, TimeThatEventsDoNotSeeIsFoundByTheOtherClock) {
  for (const double device_us : {5.0, 50.0}) {
    SimulatedGpu gpu;
    gpu.device_us = device_us;
    gpu.recordable = device_us < 20;
    gpu.host_us = 2;
    gpu.reported = 0.3;
    Timing timing(&gpu);
    timing.sets = kMaxSets;
    const DeviceSampler::Sampled sampled = timing.SampleOk();
    EXPECT_EQ(sampled.ending.outcome, v1::OUTCOME_CHEAT) << device_us;
    EXPECT_THAT(sampled.ending.message, HasSubstr("audit clock"));
    EXPECT_GT(sampled.audit_ratio, 2);
  }
}

TEST(DeviceSamplerTest, WorkBegunInTheLeadInCounts) {
  SimulatedGpu gpu;
  gpu.device_us = 400;
  gpu.begun_us = 200;
  gpu.reported = 0.5;
  EXPECT_EQ(Timing(&gpu).SampleOk().ending.outcome, v1::OUTCOME_CHEAT);
}

TEST(DeviceSamplerTest, WorkThatGoesOnAfterDoneCounts) {
  for (const double device_us : {8.0, 400.0}) {
    SimulatedGpu gpu;
    gpu.device_us = device_us;
    gpu.recordable = device_us < 20;
    gpu.late_us = device_us / 2;
    gpu.reported = 0.5;
    Timing timing(&gpu);
    timing.sets = kMaxSets;
    EXPECT_EQ(timing.SampleOk().ending.outcome, v1::OUTCOME_CHEAT) << device_us;
  }
}

TEST(DeviceSamplerTest, KeepingTheDeviceBetweenCallsIsACheat) {
  SimulatedGpu gpu;
  gpu.kept_us = 1500;
  Timing timing(&gpu);
  const DeviceSampler::Sampled sampled = timing.SampleOk();
  EXPECT_EQ(sampled.ending.outcome, v1::OUTCOME_CHEAT);
  EXPECT_THAT(sampled.ending.message, HasSubstr("keeps the device busy"));

  // Accepted if it was so before the program ran.
  timing.options.alone.Add({absl::Microseconds(1400), absl::Microseconds(20)});
  EXPECT_TRUE(timing.SampleOk().ending.passed());
}

TEST(DeviceSamplerTest, EveryAttemptHasCallsThatAreComparedLater) {
  SimulatedGpu honest;
  EXPECT_TRUE(Timing(&honest).SampleOk().ending.passed());
  EXPECT_EQ(honest.measurements(), 1);

  SimulatedGpu gpu;
  gpu.kept_us = 1500;  // audited again and again
  Timing(&gpu).SampleOk();
  EXPECT_EQ(gpu.measurements(), kAuditAttempts);
}

TEST(DeviceSamplerTest, TheNumberOfReplaysIsNotKnownBeforehand) {
  std::set<int> samples;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SimulatedGpu gpu;
    gpu.device_us = 5;
    gpu.recordable = true;
    Timing timing(&gpu);
    timing.seed = seed;
    timing.options.plan.set_target_half_width(-1);  // never narrow enough
    const int count = timing.SampleOk().samples.latency_us_size();
    // And one more, unannounced.
    EXPECT_GE(count, static_cast<int>(kLeastMaxDeviceBatches) + 1);
    EXPECT_LE(count, static_cast<int>(kMostMaxDeviceBatches) + 1);
    samples.insert(count);
  }
  EXPECT_GT(samples.size(), 3u);
}

TEST(DeviceSamplerTest, WorkOnAnotherStreamIsNoHostBoundCall) {
  SimulatedGpu gpu;  // events see almost nothing, nor can anything be recorded
  gpu.device_us = 80;
  gpu.host_us = 4;
  gpu.reported = 0.02;
  gpu.recordable = false;
  const DeviceSampler::Sampled sampled = Timing(&gpu).SampleOk();
  EXPECT_EQ(sampled.timing, "verifier_clock");
  EXPECT_EQ(sampled.ending.outcome, v1::OUTCOME_CHEAT);
}

TEST(DeviceSamplerTest, WorkPutOffToTheNextCallIsMissingInLockStep) {
  SimulatedGpu gpu;
  gpu.defers = true;
  EXPECT_EQ(Timing(&gpu).SampleOk().ending.outcome, v1::OUTCOME_CHEAT);
}

TEST(DeviceSamplerTest, TrustedProgramsAreNotAudited) {
  SimulatedGpu gpu;
  Timing timing(&gpu);
  timing.options.trusted = true;
  const DeviceSampler::Sampled sampled = timing.SampleOk();
  EXPECT_TRUE(sampled.ending.passed());
  EXPECT_EQ(gpu.batches().count(v1::BatchRequest::FREE), 0u);
}

TEST(DeviceSamplerTest, FasterThanPossibleIsACheat) {
  SimulatedGpu gpu;
  Timing timing(&gpu);
  timing.options.floor_us = 52;  // within the error of the peaks
  EXPECT_TRUE(timing.SampleOk().ending.passed());
  timing.options.floor_us = 60;
  const DeviceSampler::Sampled sampled = timing.SampleOk();
  EXPECT_EQ(sampled.ending.outcome, v1::OUTCOME_CHEAT);
  EXPECT_THAT(sampled.ending.message, HasSubstr("at least 60.00 us"));
}

TEST(DeviceSamplerTest, ThrottledBatchesDoNotCount) {
  SimulatedGpu gpu;
  gpu.throttled_readings = 2;
  Timing timing(&gpu);
  const DeviceSampler::Sampled sampled = timing.SampleOk();
  EXPECT_TRUE(sampled.ending.passed());
  EXPECT_EQ(sampled.throttle_reasons, 0u);
  EXPECT_EQ(timing.paused, 2 * kThrottlePause);
}

TEST(DeviceSamplerTest, AGpuThatStaysSlowIsTroubleOfTheMachine) {
  SimulatedGpu gpu;
  gpu.reasons = 0x40;
  Timing timing(&gpu);
  EXPECT_EQ(timing.Sample().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(timing.paused, kMaxThrottled * kThrottlePause);
}

TEST(DeviceSamplerTest, SlowIsToldAndCoarseIsShort) {
  SimulatedGpu gpu;
  Timing timing(&gpu);
  timing.options.slow_us = 40;
  EXPECT_TRUE(timing.SampleOk().slow);
  timing.options.slow_us = 60;
  EXPECT_FALSE(timing.SampleOk().slow);

  SimulatedGpu slow_gpu;
  slow_gpu.device_us = 4000;
  Timing coarse(&slow_gpu);
  coarse.options.coarse = true;
  const DeviceSampler::Sampled sampled = coarse.SampleOk();
  EXPECT_TRUE(sampled.ending.passed());
  EXPECT_LE(sampled.samples.latency_us_size(), 3 * kEarlyStopCalls);
}

TEST(ClockWatchTest, SteadyAfterTwoEqualWindows) {
  SimulatedGpu gpu;
  ClockWatch watch(&gpu, gpu.clock(), [](absl::Duration) {});
  gpu.mhz = 345;
  for (int i = 0; i < 12; ++i) {
    gpu.mhz = 345 + 100 * i;  // still rising
    EXPECT_FALSE(watch.Steady()) << i;
    gpu.clock().Advance(absl::Milliseconds(2));
  }
  int readings = 0;
  while (!watch.Steady()) {
    ASSERT_LT(++readings, 60);
    gpu.clock().Advance(absl::Milliseconds(2));
  }
  EXPECT_GE(readings, 6);
}

TEST(ClockWatchTest, WithoutAReaderEverythingIsFit) {
  SimulatedGpu gpu;
  ClockWatch watch(nullptr, gpu.clock(), [](absl::Duration) {});
  EXPECT_TRUE(watch.Steady());
  EXPECT_EQ(watch.Judge(), ClockWatch::Fit::kGood);
  EXPECT_EQ(watch.median_mhz(), 0);
}

TEST(ClockWatchTest, ALowClockIsThrottledEvenWithoutAReason) {
  SimulatedGpu gpu;
  ClockWatch watch(&gpu, gpu.clock(), [](absl::Duration) {});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(watch.Judge(), ClockWatch::Fit::kGood);
  gpu.mhz = 1980 * 0.96;
  EXPECT_EQ(watch.Judge(), ClockWatch::Fit::kThrottled);
  gpu.mhz = 1980;
  gpu.reasons = 0x4;  // the power cap alone is how the device works
  EXPECT_EQ(watch.Judge(), ClockWatch::Fit::kGood);
  EXPECT_EQ(watch.reasons(), 0x4u);
}

}  // namespace
}  // namespace ksearch
