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
  // The first batch warms the runner up.
  link_->RunBatch(std::vector<int>(), clock_.SteadyNow() + kTickTimeout);
  return absl::OkStatus();
}

absl::StatusOr<RunnerLink::BatchReply> Metronome::RunIdle() {
  RETURN_IF_ERROR(Wake());
  RunnerLink::BatchReply reply =
      link_->RunBatch(std::vector<int>(), clock_.SteadyNow() + kTickTimeout);
  if (!reply.ending.passed()) {
    link_.reset();
    return absl::UnavailableError(
        absl::StrCat("the idle runner does not answer: ", reply.ending.message));
  }
  return reply;
}

absl::StatusOr<absl::Duration> Metronome::Tick() {
  ASSIGN_OR_RETURN(const RunnerLink::BatchReply reply, RunIdle());
  return reply.audit;
}

absl::StatusOr<Metronome::Pace> Metronome::TickAfterLeadIn() {
  RETURN_IF_ERROR(Wake());
  Pace pace;
  pace.lead_in = link_->LeadIn(clock_.SteadyNow() + kTickTimeout);
  ASSIGN_OR_RETURN(const RunnerLink::BatchReply reply, RunIdle());
  pace.round_trip = reply.audit - reply.waited;
  return pace;
}

}  // namespace ksearch
