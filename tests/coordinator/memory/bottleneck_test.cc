#include "coordinator/memory/bottleneck.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

class BottleneckTest : public testing::Test {
 protected:
  BottleneckTest() {
    v1::Workload* workload = task_.add_workloads();
    workload->set_uuid("w");
    v1::AxisValue* axis = workload->add_axes();
    axis->set_axis("n");
    axis->set_value(1000000);
    task_.mutable_work()->set_bytes("8 * n");
    task_.mutable_work()->set_flops("2 * n");
    result_.mutable_peaks()->set_memory_bytes_per_second(1e12);
    result_.mutable_peaks()->set_half_flops_per_second(1e15);
    result_.mutable_peaks()->set_empty_call_us(2);
    timed_ = result_.add_workloads();
    timed_->set_workload_uuid("w");
    timed_->set_floor_us(8);
    timed_->mutable_candidate()->set_median_us(100);
    timed_->mutable_baseline()->set_median_us(10);
  }
  v1::KernelProfile* Kernel(double sm, double memory, double dram) {
    v1::Profile* profile = result_.mutable_profile();
    profile->set_workload_uuid("w");
    profile->set_calls(1);
    v1::KernelProfile* kernel = profile->add_kernels();
    kernel->set_name("k");
    kernel->set_launches(1);
    kernel->set_duration_us(90);
    kernel->set_sm_percent(sm);
    kernel->set_memory_percent(memory);
    kernel->set_dram_percent(dram);
    return kernel;
  }
  void Stall(v1::KernelProfile* kernel, const std::string& reason) {
    v1::KernelProfile::Stall* stall = kernel->add_stalls();
    stall->set_reason(reason);
    stall->set_share(0.5);
  }

  v1::Task task_;
  v1::JobResult result_;
  v1::WorkloadResult* timed_ = nullptr;
};

TEST_F(BottleneckTest, FarFromTheFloorAndWithoutAProfileNothingIsKnown) {
  EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_UNSPECIFIED);
  EXPECT_EQ(BottleneckOf(task_, v1::JobResult()), v1::BOTTLENECK_UNSPECIFIED);
}

TEST_F(BottleneckTest, NearTheFloorItIsWhatTheFloorIsMadeOf) {
  EXPECT_EQ(BaselineBottleneckOf(task_, result_), v1::BOTTLENECK_MEMORY_BANDWIDTH);
  task_.mutable_work()->set_flops("100000000 * n");
  timed_->set_floor_us(100000);
  timed_->mutable_candidate()->set_median_us(120000);
  EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_COMPUTE);
}

TEST_F(BottleneckTest, ACallThatIsHardlyMoreThanAnEmptyOneIsOverhead) {
  timed_->mutable_candidate()->set_median_us(3);
  EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_LAUNCH_OVERHEAD);
  timed_->mutable_candidate()->set_median_us(100);
  timed_->set_host_bound(true);
  EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_LAUNCH_OVERHEAD);
}

TEST_F(BottleneckTest, AProfileSaysWhichRateIsNearItsPeak) {
  Kernel(20, 90, 85);
  EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_MEMORY_BANDWIDTH);
  result_.clear_profile();
  Kernel(20, 90, 10);
  EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_SHARED_MEMORY);
  result_.clear_profile();
  Kernel(20, 30, 10)->set_tensor_percent(70);
  EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_COMPUTE);
}

TEST_F(BottleneckTest, TimeBetweenKernelsIsOverhead) {
  Kernel(90, 30, 10)->set_duration_us(40);
  EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_LAUNCH_OVERHEAD);
}

TEST_F(BottleneckTest, WhereNoRateIsHighStallsAndOccupancyTell) {
  struct Case {
    const char* reason;
    v1::Bottleneck expected;
  };
  for (const Case& each : {Case{"long_scoreboard", v1::BOTTLENECK_MEMORY_LATENCY},
                           Case{"barrier", v1::BOTTLENECK_SYNCHRONIZATION},
                           Case{"mio_throttle", v1::BOTTLENECK_SHARED_MEMORY},
                           Case{"wait", v1::BOTTLENECK_INSTRUCTIONS}}) {
    result_.clear_profile();
    v1::KernelProfile* kernel = Kernel(20, 30, 10);
    Stall(kernel, "selected");  // issuing is not a stall
    Stall(kernel, each.reason);
    EXPECT_EQ(BottleneckOf(task_, result_), each.expected) << each.reason;
    v1::KernelFacts* built = result_.mutable_build()->add_kernels();
    built->set_name("k");
    built->set_spill_store_bytes(8);
    EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_REGISTERS);
    kernel->set_waves(0.4);
    EXPECT_EQ(BottleneckOf(task_, result_), v1::BOTTLENECK_PARALLELISM);
    result_.clear_build();
  }
}

}  // namespace
}  // namespace ksearch
