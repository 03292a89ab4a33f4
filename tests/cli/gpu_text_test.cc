#include "cli/gpu_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(GpuTextTest, ReasonsAreWords) {
  EXPECT_EQ(ThrottleText(0), "");
  EXPECT_EQ(ThrottleText(0x1 | 0x2 | 0x100), "") << "idle, a set clock, a display: no throttling";
  EXPECT_EQ(ThrottleText(0x4 | 0x20), "power cap, heat");
  EXPECT_EQ(ThrottleText(0x8 | 0x40 | 0x80), "heat (hardware), hardware slow-down, power brake");
}

TEST(GpuTextTest, EachGpuOfAConnectedWorkerHasALine) {
  v1::ListWorkersReply reply;
  EXPECT_EQ(GpusText(reply.workers()), "no connected worker reports the clocks of a GPU\n");
  v1::WorkerStatus* worker = reply.add_workers();
  worker->set_name("node1");
  v1::DeviceFingerprint* print = worker->mutable_hello()->add_devices()->mutable_fingerprint();
  print->set_device_id("GPU-1");
  print->set_name("NVIDIA H200");
  v1::DeviceReading* reading = worker->mutable_report()->mutable_health()->add_readings();
  reading->set_device_id("GPU-1");
  reading->set_sm_clock_mhz(1755);
  reading->set_temperature_celsius(71);
  reading->set_power_milliwatts(612'500);
  reading->set_power_limit_milliwatts(700'000);
  reading->set_throttle_reasons(0x4);
  EXPECT_THAT(GpusText(reply.workers()), Not(HasSubstr("node1"))) << "it is not connected";
  worker->set_connected(true);
  EXPECT_THAT(GpusText(reply.workers()),
              HasSubstr("node1   GPU-1  NVIDIA H200  1755 MHz  -             71 C         "
                        "613 of 700 W  power cap"));
  reading->clear_power_limit_milliwatts();
  reading->clear_throttle_reasons();
  EXPECT_THAT(GpusText(reply.workers()), HasSubstr("71 C         613 W  -"));
}

}  // namespace
}  // namespace ksearch
