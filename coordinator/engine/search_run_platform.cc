// The jobs of a run and the platform that they require.
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/platform.h"
#include "common/status_macros.h"
#include "coordinator/engine/search_run.h"
#include "coordinator/engine/trial.h"

namespace ksearch {

absl::Status SearchRun::FindPlatform() {
  if (state_.has_platform()) return absl::OkStatus();
  v1::RunConfig config = context_.config;
  if (!fresh_ && parts_.platforms != nullptr && config.platform().ByteSizeLong() == 0) {
    ASSIGN_OR_RETURN(*config.mutable_platform(), PlatformOfFirstResult(*parts_.store, run_id_));
  }
  const std::optional<v1::Platform> platform =
      ChoosePlatform(config, context_.task.device(), parts_.platforms);
  if (!platform.has_value()) return absl::OkStatus();
  *state_.mutable_platform() = *platform;
  google::protobuf::RepeatedPtrField<v1::HeldJob> waiting;
  waiting.Swap(state_.mutable_unplaced_jobs());
  for (v1::HeldJob& job : waiting) {
    RETURN_IF_ERROR(Place(job.tag(), std::move(*job.mutable_spec())).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SearchRun::Hold(const std::string& tag, v1::JobSpec spec) {
  state_.add_outstanding(absl::StrCat("job/", tag));
  if (state_.has_platform()) return Place(tag, std::move(spec));
  v1::HeldJob* job = state_.add_unplaced_jobs();
  job->set_tag(tag);
  *job->mutable_spec() = std::move(spec);
  return "";
}

absl::StatusOr<std::string> SearchRun::Place(const std::string& tag, v1::JobSpec spec) {
  v1::Platform platform = state_.platform();
  if (context_.config.any_device() && spec.kind() == v1::JOB_KIND_SCREEN &&
      !absl::EndsWith(tag, kOwnPlatformTagEnd)) {
    platform.clear_device_model();
  }
  SetPlatform(platform, &spec);
  ASSIGN_OR_RETURN(const std::string job_id, spec.kind() == v1::JOB_KIND_PROFILE
                                                 ? IdOfProfileToTry(*parts_.store, replays_, &spec)
                                                 : IdOfJobToTry(*parts_.store, &spec));
  v1::HeldJob* job = state_.add_held_jobs();
  job->set_job_id(job_id);
  job->set_tag(tag);
  *job->mutable_spec() = std::move(spec);
  return job_id;
}

absl::Status SearchRun::Repeat(const Arrival& arrival, const v1::JobResult& result) {
  ASSIGN_OR_RETURN(v1::JobSpec spec, parts_.store->ReadJob(arrival.ref));
  spec.set_salt(TrialSalt(context_.config));
  v1::RunEvent event;
  event.set_kind(v1::RunEvent::NOTE);
  event.set_candidate_id(CandidateId(spec.candidate()));
  event.set_text(absl::StrCat("done on ", PlatformText(PlatformOf(result.device())),
                              "; repeated on the run's own ", PlatformText(state_.platform())));
  AddEvent(event);
  return Hold(absl::StrCat(arrival.tag, kOwnPlatformTagEnd), std::move(spec)).status();
}

}  // namespace ksearch
