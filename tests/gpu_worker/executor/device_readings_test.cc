#include "gpu_worker/executor/device_readings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ksearch {
namespace {

class ReadMonitor : public DeviceMonitor {
 public:
  explicit ReadMonitor(std::string id) : id_(std::move(id)) {}
  v1::DeviceFingerprint Fingerprint() const override { return {}; }
  v1::DeviceHealth Sample() override { return {}; }
  std::optional<v1::DeviceReading> Read() override {
    ++times;
    if (!tells) return std::nullopt;
    v1::DeviceReading reading;
    reading.set_device_id(id_);
    reading.set_sm_clock_mhz(1000 + times);
    return reading;
  }
  int times = 0;
  bool tells = true;

 private:
  const std::string id_;
};

TEST(DeviceReadings, ReadsRarelyAndForgetsWhatIsNotToldAnyMore) {
  ReadMonitor second("GPU-2"), first("GPU-1");
  DeviceReadings readings({&second, &first});
  const absl::Time start = absl::FromUnixSeconds(1000);
  ASSERT_EQ(readings.At(start).size(), 2u);
  EXPECT_EQ(readings.At(start)[0].device_id(), "GPU-1");
  EXPECT_EQ(readings.At(start)[1].sm_clock_mhz(), 1001);
  const absl::Time before = start + DeviceReadings::kReadEvery - absl::Milliseconds(1);
  EXPECT_EQ(readings.At(before)[1].sm_clock_mhz(), 1001);
  EXPECT_EQ(first.times, 1);
  first.tells = false;
  ASSERT_EQ(readings.At(start + DeviceReadings::kReadEvery).size(), 1u);
  EXPECT_EQ(readings.At(start + DeviceReadings::kReadEvery)[0].sm_clock_mhz(), 1002);
  EXPECT_EQ(second.times, 2);
}

}  // namespace
}  // namespace ksearch
