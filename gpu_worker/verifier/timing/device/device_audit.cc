#include "gpu_worker/verifier/timing/device/device_audit.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

void DeviceAudit::AddBatch(const WorkloadSession::Batch& batch, bool per_call,
                           absl::Duration idle) {
  deferred_work_.Add(batch.output_check, idle);
  const auto calls = static_cast<double>(batch.calls);
  batches_.push_back({absl::ToDoubleMicroseconds(batch.audit - batch.waited),
                      absl::ToDoubleMicroseconds(batch.lead_in), calls, per_call ? calls : 1});
}

double DeviceAudit::Micros(const Batch& batch) const {
  return batch.micros + deferred_work_.MicrosPerBatch(batch.micros) +
         std::max(0.0, batch.lead_in_us - std::max(kMaxLeadIn * paces_.LeadInMicros(0.9),
                                                   absl::ToDoubleMicroseconds(kLeastLeadIn)));
}

double DeviceAudit::Ratio(double call_us) const {
  double micros = 0, calls = 0;
  for (const Batch& batch : batches_) {
    micros += std::max(0.0, Micros(batch) - paces_.RoundTripMicros(0));
    calls += batch.calls;
  }
  return calls == 0 || call_us <= 0 ? 0 : micros / (calls * call_us);
}

bool DeviceAudit::TimeEscaped(double call_us, double host_us) const {
  const double per_batch = kAuditRoundTrips * paces_.RoundTripMicros(0.9) +
                           absl::ToDoubleMicroseconds(kAuditPerBatch + kDeviceAuditPerBatch);
  std::vector<double> escaped;
  for (const Batch& batch : batches_) {
    escaped.push_back(Micros(batch) - per_batch -
                      kMaxAuditRatio * batch.calls * std::max(call_us, host_us) -
                      batch.allowed_calls * absl::ToDoubleMicroseconds(kDeviceAuditPerCall) -
                      // Calls made one by one include a wait for the device after each.
                      (batch.allowed_calls - 1) * paces_.RoundTripMicros(0.9));
  }
  return !escaped.empty() && Median(std::move(escaped)) > 0;
}

std::string DeviceAudit::Summary(double call_us) const {
  std::vector<double> lead_ins_us, beside_us;
  for (const Batch& batch : batches_) {
    lead_ins_us.push_back(batch.lead_in_us);
    beside_us.push_back(batch.micros - batch.calls * call_us);
  }
  return absl::StrFormat(
      "batches=%d beside_calls_us=%.0f idle_round_trip_us=%.0f idle_round_trip_p90_us=%.0f "
      "lead_in_us=%.0f idle_lead_in_us=%.0f idle_lead_in_p90_us=%.0f late_us=%.0f",
      batches_.size(), Median(beside_us), paces_.RoundTripMicros(0.5), paces_.RoundTripMicros(0.9),
      Median(lead_ins_us), paces_.LeadInMicros(0.5), paces_.LeadInMicros(0.9),
      deferred_work_.RawMicrosPerBatch());
}

std::vector<double> DeviceAudit::VerifierMicros() const {
  std::vector<double> micros;
  for (const Batch& batch : batches_) {
    const double all = Micros(batch);
    micros.push_back(std::max(all - paces_.RoundTripMicros(0), all / 10) / batch.calls);
  }
  return micros;
}

}  // namespace ksearch
