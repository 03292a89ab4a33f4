#include "gpu_worker/verifier/timing/device/device_audit.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

void DeviceAudit::AddGo(const WorkloadSession::Batch& batch, bool per_call, absl::Duration idle) {
  late_work_.Add(batch.look_over, idle);
  const auto calls = static_cast<double>(batch.calls);
  gos_.push_back({absl::ToDoubleMicroseconds(batch.audit - batch.waited),
                  absl::ToDoubleMicroseconds(batch.lead_in), calls, per_call ? calls : 1});
}

double DeviceAudit::Micros(const Go& go) const {
  return go.micros + late_work_.MicrosAGo(go.micros) +
         std::max(0.0, go.lead_in_us - std::max(kMaxLeadIn * paces_.LeadInMicros(0.9),
                                                absl::ToDoubleMicroseconds(kLeastLeadIn)));
}

double DeviceAudit::Ratio(double call_us) const {
  double micros = 0, calls = 0;
  for (const Go& go : gos_) {
    micros += std::max(0.0, Micros(go) - paces_.RoundTripMicros(0));
    calls += go.calls;
  }
  return calls == 0 || call_us <= 0 ? 0 : micros / (calls * call_us);
}

bool DeviceAudit::TimeEscaped(double call_us, double host_us) const {
  const double per_go = kAuditRoundTrips * paces_.RoundTripMicros(0.9) +
                        absl::ToDoubleMicroseconds(kAuditPerGo + kDeviceAuditPerGo);
  std::vector<double> escaped;
  for (const Go& go : gos_) {
    escaped.push_back(Micros(go) - per_go - kMaxAuditRatio * go.calls * std::max(call_us, host_us) -
                      go.allowed_calls * absl::ToDoubleMicroseconds(kDeviceAuditPerCall) -
                      // Calls made one by one: the device was waited for after each.
                      (go.allowed_calls - 1) * paces_.RoundTripMicros(0.9));
  }
  return !escaped.empty() && Median(std::move(escaped)) > 0;
}

std::string DeviceAudit::Summary(double call_us) const {
  std::vector<double> lead_ins_us, beside_us;
  for (const Go& go : gos_) {
    lead_ins_us.push_back(go.lead_in_us);
    beside_us.push_back(go.micros - go.calls * call_us);
  }
  return absl::StrFormat(
      "gos=%d beside_calls_us=%.0f idle_round_trip_us=%.0f idle_round_trip_p90_us=%.0f "
      "lead_in_us=%.0f idle_lead_in_us=%.0f idle_lead_in_p90_us=%.0f late_us=%.0f",
      gos_.size(), Median(beside_us), paces_.RoundTripMicros(0.5), paces_.RoundTripMicros(0.9),
      Median(lead_ins_us), paces_.LeadInMicros(0.5), paces_.LeadInMicros(0.9),
      late_work_.RawMicrosAGo());
}

std::vector<double> DeviceAudit::VerifierMicros() const {
  std::vector<double> micros;
  for (const Go& go : gos_) {
    const double all = Micros(go);
    micros.push_back(std::max(all - paces_.RoundTripMicros(0), all / 10) / go.calls);
  }
  return micros;
}

}  // namespace ksearch
