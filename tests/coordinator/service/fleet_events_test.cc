#include "coordinator/service/fleet_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Words(const std::vector<v1::FleetEvent>& events) {
  std::vector<std::string> words;
  for (const v1::FleetEvent& event : events) {
    words.push_back(absl::StrCat(v1::FleetEvent::Kind_Name(event.kind()), " ", event.device_id(),
                                 event.lease_id(), " ", event.text()));
  }
  return words;
}

void AddLease(const std::string& id, v1::HeldLease::State state, v1::WorkerReport* report) {
  v1::HeldLease* lease = report->add_leases();
  lease->set_lease_id(id);
  lease->set_state(state);
}

TEST(FleetEventsTest, SameReportAgainSaysNothing) {
  v1::WorkerReport report;
  report.set_draining(true);
  report.mutable_health()->set_healthy(false);
  AddLease("l1", v1::HeldLease::RUNNING, &report);
  EXPECT_THAT(ReportedEvents(report, report), IsEmpty());
  EXPECT_THAT(ReportedEvents({}, {}), IsEmpty());
}

TEST(FleetEventsTest, StagesAndDrainAreTold) {
  v1::WorkerReport before, now;
  AddLease("same", v1::HeldLease::BUILDING, &before);
  AddLease("moved", v1::HeldLease::BUILDING, &before);
  AddLease("gone", v1::HeldLease::BUILDING, &before);
  AddLease("same", v1::HeldLease::BUILDING, &now);
  AddLease("moved", v1::HeldLease::RUNNING, &now);
  AddLease("new", v1::HeldLease::QUEUED, &now);
  now.set_draining(true);
  const auto events = ReportedEvents(before, now);
  EXPECT_THAT(Words(events),
              ElementsAre("WORKER_DRAINING  ", "LEASE_STAGE moved ", "LEASE_STAGE new "));
  EXPECT_EQ(events[1].stage(), v1::HeldLease::RUNNING);
}

TEST(FleetEventsTest, DevicesFallSickAndRecover) {
  v1::WorkerReport well, sick, dead;
  well.mutable_health()->set_healthy(true);
  sick = well;
  v1::SickDevice* device = sick.mutable_health()->add_sick_devices();
  device->set_device_id("GPU-1");
  device->set_reason("Xid 79");
  dead.mutable_health()->set_healthy(false);
  dead.mutable_health()->set_reason("no driver");
  EXPECT_THAT(Words(ReportedEvents(well, sick)), ElementsAre("DEVICE_SICK GPU-1 Xid 79"));
  EXPECT_THAT(Words(ReportedEvents(sick, well)), ElementsAre("DEVICE_WELL GPU-1 "));
  EXPECT_THAT(Words(ReportedEvents(sick, dead)),
              ElementsAre("DEVICE_SICK  no driver", "DEVICE_WELL GPU-1 "));
  EXPECT_THAT(Words(ReportedEvents(dead, well)), ElementsAre("DEVICE_WELL  "));
}

}  // namespace
}  // namespace ksearch
