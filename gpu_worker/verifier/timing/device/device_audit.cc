#include "gpu_worker/verifier/timing/device/device_audit.h"

#include <algorithm>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

void DeviceAudit::AddRoundTrip(absl::Duration idle_round_trip) {
  round_trips_us_.push_back(absl::ToDoubleMicroseconds(idle_round_trip));
}

void DeviceAudit::AddGo(const WorkloadSession::Batch& batch, bool per_call) {
  const auto calls = static_cast<double>(batch.calls);
  gos_.push_back(
      {absl::ToDoubleMicroseconds(batch.audit - batch.waited), calls, per_call ? calls : 1});
}

double DeviceAudit::RoundTrip(double quantile) const { return Quantile(round_trips_us_, quantile); }

double DeviceAudit::Ratio(double call_us) const {
  double micros = 0, calls = 0;
  for (const Go& go : gos_) {
    micros += std::max(0.0, go.micros - RoundTrip(0));
    calls += go.calls;
  }
  return calls == 0 || call_us <= 0 ? 0 : micros / (calls * call_us);
}

bool DeviceAudit::TimeEscaped(double call_us, double host_us) const {
  const double per_go = kAuditRoundTrips * RoundTrip(0.9) + absl::ToDoubleMicroseconds(kAuditPerGo);
  std::vector<double> escaped;
  for (const Go& go : gos_) {
    escaped.push_back(go.micros - per_go - kMaxAuditRatio * go.calls * std::max(call_us, host_us) -
                      go.allowed_calls * absl::ToDoubleMicroseconds(kDeviceAuditPerCall));
  }
  return !escaped.empty() && Median(std::move(escaped)) > 0;
}

std::vector<double> DeviceAudit::VerifierMicros() const {
  std::vector<double> micros;
  for (const Go& go : gos_) {
    micros.push_back(std::max(go.micros - RoundTrip(0), go.micros / 10) / go.calls);
  }
  return micros;
}

}  // namespace ksearch
