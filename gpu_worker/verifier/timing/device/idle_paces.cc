#include "gpu_worker/verifier/timing/device/idle_paces.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

void IdlePaces::Add(const Metronome::Pace& pace) {
  lead_ins_us_.push_back(absl::ToDoubleMicroseconds(pace.lead_in));
  round_trips_us_.push_back(absl::ToDoubleMicroseconds(pace.round_trip));
}

void IdlePaces::AddCopy(absl::Duration time) {
  copies_us_.push_back(absl::ToDoubleMicroseconds(time));
}

double IdlePaces::LeadInMicros(double quantile) const { return Quantile(lead_ins_us_, quantile); }

double IdlePaces::RoundTripMicros(double quantile) const {
  return Quantile(round_trips_us_, quantile);
}

double IdlePaces::CopyMicros(double quantile) const {
  return copies_us_.empty() ? 0 : Quantile(copies_us_, quantile);
}

bool IdlePaces::ShowsBusyDevice(const IdlePaces& alone) const {
  const double lead_in =
      std::max(absl::ToDoubleMicroseconds(kBusyLeadIn), kBusyFactor * alone.LeadInMicros(1));
  const double round_trip =
      std::max(absl::ToDoubleMicroseconds(kBusyRoundTrip), kBusyFactor * alone.RoundTripMicros(1));
  const double copy =
      std::max(absl::ToDoubleMicroseconds(kBusyCopy), kBusyFactor * alone.CopyMicros(1));
  return LeadInMicros(0.9) > lead_in || RoundTripMicros(0.9) > round_trip || CopyMicros(0.9) > copy;
}

std::string BusyDeviceText(const IdlePaces& paces, const IdlePaces& alone) {
  return absl::StrFormat(
      "keeps the device busy between its calls: an idle program waits %.2f ms for it, %.2f ms for "
      "an answer and %.2f ms for a small copy (9 of 10), without this one %.2f, %.2f and %.2f ms "
      "(all)",
      paces.LeadInMicros(0.9) / 1e3, paces.RoundTripMicros(0.9) / 1e3, paces.CopyMicros(0.9) / 1e3,
      alone.LeadInMicros(1) / 1e3, alone.RoundTripMicros(1) / 1e3, alone.CopyMicros(1) / 1e3);
}

}  // namespace ksearch
