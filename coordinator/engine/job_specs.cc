#include "coordinator/engine/job_specs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/measure_defaults.h"
#include "common/platform.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/trusted_programs.h"
#include "coordinator/search/score.h"

namespace ksearch {
namespace {

constexpr absl::Duration kMaxProfileTime = absl::Minutes(2);

// A result without a device comes from the coordinator itself: no worker measured anything.
bool Counts(const v1::JobResult& result, const v1::JobSpec& spec) {
  return !IsInfrastructureOutcome(result.outcome()) &&
         (!result.has_device() || Meets(PlatformOf(result.device()), spec.platform()));
}

}  // namespace

JobSpecs::JobSpecs(const v1::Task& task, const v1::MeasurePlan& plan, const v1::Limits& limits,
                   std::string salt)
    : task_(task),
      task_sha256_(TaskDigest(task)),
      plan_(WithDefaults(plan, task.device())),
      limits_(WithDefaults(limits)),
      salt_(std::move(salt)) {}

v1::JobSpec JobSpecs::Common(v1::JobKind kind, const v1::Sources& candidate) const {
  v1::JobSpec spec;
  spec.set_kind(kind);
  spec.set_task_sha256(task_sha256_);
  spec.set_task_name(task_.name());
  *spec.mutable_candidate() = candidate;
  *spec.mutable_plan() = plan_;
  *spec.mutable_limits() = limits_;
  spec.set_device(task_.device());
  spec.set_salt(salt_);
  NameTrustedPrograms(task_, &spec);
  return spec;
}

v1::JobSpec JobSpecs::OnFeedback(v1::JobKind kind, const v1::Sources& candidate) const {
  v1::JobSpec spec = Common(kind, candidate);
  for (const v1::Workload& workload : task_.workloads()) {
    if (!workload.held_out()) spec.add_workload_uuids(workload.uuid());
  }
  return spec;
}

v1::JobSpec JobSpecs::Screen(const v1::Sources& candidate) const {
  return OnFeedback(v1::JOB_KIND_SCREEN, candidate);
}

v1::JobSpec JobSpecs::Check(const v1::Sources& candidate) const {
  return OnFeedback(v1::JOB_KIND_CHECK, candidate);
}

v1::JobSpec JobSpecs::Build(const v1::Sources& candidate) const {
  return Common(v1::JOB_KIND_BUILD, candidate);
}

v1::JobSpec JobSpecs::Confirm(const v1::Sources& candidate, const std::string& incumbent_id,
                              const v1::Sources* incumbent, double error_share) const {
  v1::JobSpec spec = Common(v1::JOB_KIND_CONFIRM, candidate);
  // Exactly the plan's value if all may be spent, so that equal questions have equal job ids.
  if (error_share < 1) {
    spec.mutable_plan()->set_confidence(1 - (1 - plan_.confidence()) * error_share);
  }
  for (const v1::Workload& workload : task_.workloads()) spec.add_workload_uuids(workload.uuid());
  if (incumbent != nullptr) {
    v1::Rival* rival = spec.add_rivals();
    rival->set_rival_id(incumbent_id);
    *rival->mutable_sources() = *incumbent;
  }
  spec.add_rivals()->set_rival_id(kBaselineRival);
  return spec;
}

v1::JobSpec JobSpecs::Baseline(const v1::Sources& baseline) const {
  return OnFeedback(v1::JOB_KIND_BASELINE, baseline);
}

v1::JobSpec JobSpecs::Examine(const v1::Sources& candidate, const std::string& architecture) const {
  v1::JobSpec spec = OnFeedback(v1::JOB_KIND_EXAMINE, candidate);
  spec.set_architecture(architecture);
  *spec.mutable_plan() = WithDefaults(v1::MeasurePlan());
  return spec;
}

v1::JobSpec JobSpecs::Profile(const v1::Sources& candidate, const std::string& workload_uuid,
                              const std::string& architecture) const {
  v1::JobSpec spec = Common(v1::JOB_KIND_PROFILE, candidate);
  spec.add_workload_uuids(workload_uuid);
  spec.set_architecture(architecture);
  *spec.mutable_plan() = WithDefaults(v1::MeasurePlan());
  // The search waits for it.
  *spec.mutable_limits()->mutable_total_time() =
      ToProto(std::min(FromProto(limits_.total_time()), kMaxProfileTime));
  return spec;
}

void SetPlatform(const v1::Platform& platform, v1::JobSpec* spec) {
  spec->clear_platform();
  const v1::Platform part = PlatformFor(spec->kind(), platform);
  if (part.ByteSizeLong() > 0) *spec->mutable_platform() = part;
}

absl::StatusOr<std::string> IdOfJobToTry(Store& store, v1::JobSpec* spec) {
  const std::string salt = spec->salt();
  for (int lost = 1;; ++lost) {
    const std::string job_id = JobId(*spec);
    ASSIGN_OR_RETURN(const auto known, store.ReadResult(job_id));
    if (!known.has_value() || Counts(*known, *spec)) return job_id;
    spec->set_salt(absl::StrCat(salt, "again/", lost));
  }
}

absl::StatusOr<std::string> IdOfProfileToTry(Store& store, bool replays, v1::JobSpec* spec) {
  const std::string salt = spec->salt();
  for (int lost = 1;; ++lost) {
    const std::string job_id = JobId(*spec);
    ASSIGN_OR_RETURN(const auto known, store.ReadResult(job_id));
    if (!known.has_value() || known->profile().kernels_size() > 0) return job_id;
    v1::JobSpec next = *spec;
    next.set_salt(absl::StrCat(salt, "again/", lost));
    if (replays) {
      ASSIGN_OR_RETURN(const auto later, store.ReadResult(JobId(next)));
      if (!later.has_value()) return job_id;
    }
    *spec = std::move(next);
  }
}

}  // namespace ksearch
