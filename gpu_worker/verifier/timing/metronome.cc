#include "gpu_worker/verifier/timing/metronome.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr absl::Duration kTickTimeout = absl::Seconds(10);

}  // namespace

absl::Status Metronome::Wake() {
  if (link_ != nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(link_, starter_.StartIdle(RunnerStarter::TrustedLimits()));
  // The first one warms it up.
  link_->Go(std::vector<int>(), clock_.SteadyNow() + kTickTimeout);
  return absl::OkStatus();
}

absl::StatusOr<absl::Duration> Metronome::Tick() {
  RETURN_IF_ERROR(Wake());
  const RunnerLink::GoReply reply =
      link_->Go(std::vector<int>(), clock_.SteadyNow() + kTickTimeout);
  if (!reply.ending.passed()) {
    link_.reset();
    return absl::UnavailableError(
        absl::StrCat("the idle runner does not answer: ", reply.ending.message));
  }
  return reply.audit - reply.waited;
}

absl::StatusOr<Metronome::Pace> Metronome::TickAfterLeadIn() {
  RETURN_IF_ERROR(Wake());
  Pace pace;
  pace.lead_in = link_->LeadIn(clock_.SteadyNow() + kTickTimeout);
  ASSIGN_OR_RETURN(pace.round_trip, Tick());
  return pace;
}

}  // namespace ksearch
