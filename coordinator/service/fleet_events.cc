#include "coordinator/service/fleet_events.h"

#include <map>
#include <string>

namespace ksearch {
namespace {

// The reasons by device; "": all devices of the worker.
std::map<std::string, std::string> UnhealthyDevices(const v1::DeviceHealth& health) {
  std::map<std::string, std::string> sick;
  for (const v1::SickDevice& device : health.sick_devices()) {
    sick[device.device_id()] = device.reason();
  }
  return sick;
}

void AddHealth(v1::FleetEvent::Kind kind, const std::string& device_id, const std::string& reason,
               std::vector<v1::FleetEvent>* events) {
  v1::FleetEvent& event = events->emplace_back();
  event.set_kind(kind);
  event.set_device_id(device_id);
  event.set_text(reason);
}

}  // namespace

std::vector<v1::FleetEvent> ReportedEvents(const v1::WorkerReport& before,
                                           const v1::WorkerReport& now) {
  std::vector<v1::FleetEvent> events;
  if (now.draining() && !before.draining()) {
    v1::FleetEvent& event = events.emplace_back();
    event.set_kind(v1::FleetEvent::WORKER_DRAINING);
    event.set_text(now.leaving_because());
  }
  std::map<std::string, std::string> sick_before = UnhealthyDevices(before.health());
  std::map<std::string, std::string> sick = UnhealthyDevices(now.health());
  if (before.has_health() && !before.health().healthy()) sick_before[""] = before.health().reason();
  if (now.has_health() && !now.health().healthy()) sick[""] = now.health().reason();
  for (const auto& [device_id, reason] : sick) {
    if (!sick_before.contains(device_id)) {
      AddHealth(v1::FleetEvent::DEVICE_SICK, device_id, reason, &events);
    }
  }
  for (const auto& [device_id, reason] : sick_before) {
    if (!sick.contains(device_id)) AddHealth(v1::FleetEvent::DEVICE_WELL, device_id, "", &events);
  }
  std::map<std::string, v1::HeldLease::State> stages;
  for (const v1::HeldLease& lease : before.leases()) stages[lease.lease_id()] = lease.state();
  for (const v1::HeldLease& lease : now.leases()) {
    const auto known = stages.find(lease.lease_id());
    if (known != stages.end() && known->second == lease.state()) continue;
    v1::FleetEvent& event = events.emplace_back();
    event.set_kind(v1::FleetEvent::LEASE_STAGE);
    event.set_lease_id(lease.lease_id());
    event.set_job_id(lease.job_id());
    event.set_attempt(lease.attempt());
    event.set_stage(lease.state());
  }
  return events;
}

}  // namespace ksearch
