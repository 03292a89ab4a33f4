#include "gpu_worker/verifier/timing/device/idle_paces.h"

#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

IdlePaces Paces(int count, absl::Duration lead_in, absl::Duration round_trip, absl::Duration copy) {
  IdlePaces paces;
  for (int i = 0; i < count; ++i) {
    paces.Add({lead_in, round_trip});
    paces.AddCopy(copy);
  }
  return paces;
}

IdlePaces Alone() {
  return Paces(7, absl::Microseconds(200), absl::Microseconds(20), absl::Microseconds(50));
}

TEST(IdlePacesTest, OrdinaryPacesShowNothing) {
  IdlePaces paces =
      Paces(20, absl::Microseconds(450), absl::Microseconds(100), absl::Microseconds(250));
  EXPECT_FALSE(paces.ShowsBusyDevice(Alone()));
  EXPECT_FALSE(IdlePaces().ShowsBusyDevice(Alone()));
  // One in twenty may be an accident.
  paces.AddCopy(absl::Milliseconds(2));
  EXPECT_FALSE(paces.ShowsBusyDevice(Alone()));
}

TEST(IdlePacesTest, EachKindOfWaitShowsABusyDevice) {
  const IdlePaces alone = Alone();
  EXPECT_TRUE(Paces(20, absl::Microseconds(2400), absl::Microseconds(20), absl::Microseconds(50))
                  .ShowsBusyDevice(alone));
  EXPECT_TRUE(Paces(20, absl::Microseconds(200), absl::Microseconds(400), absl::Microseconds(50))
                  .ShowsBusyDevice(alone));
  EXPECT_TRUE(Paces(20, absl::Microseconds(200), absl::Microseconds(20), absl::Microseconds(1050))
                  .ShowsBusyDevice(alone));
}

TEST(IdlePacesTest, OneInFiveIsEnough) {
  IdlePaces paces =
      Paces(16, absl::Microseconds(200), absl::Microseconds(20), absl::Microseconds(50));
  for (int i = 0; i < 4; ++i) paces.AddCopy(absl::Microseconds(1050));
  EXPECT_TRUE(paces.ShowsBusyDevice(Alone()));
  EXPECT_NE(BusyDeviceText(paces, Alone()).find("1.05 ms for a small copy"), std::string::npos)
      << BusyDeviceText(paces, Alone());
}

TEST(IdlePacesTest, MachinesWithSlowCopiesAreJudgedByTheirOwn) {
  const IdlePaces alone =
      Paces(7, absl::Microseconds(200), absl::Microseconds(20), absl::Milliseconds(1));
  EXPECT_FALSE(Paces(20, absl::Microseconds(200), absl::Microseconds(20), absl::Microseconds(2500))
                   .ShowsBusyDevice(alone));
}

}  // namespace
}  // namespace ksearch
