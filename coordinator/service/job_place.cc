// Evaluates for clients: on a platform with an existing result, or with a worker.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/identity.h"
#include "common/status_macros.h"
#include "coordinator/engine/job_specs.h"
#include "coordinator/service/evaluation.h"
#include "coordinator/service/search_service.h"
#include "coordinator/views/result_view.h"

namespace ksearch {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(100);

}  // namespace

absl::StatusOr<v1::JobSpec> SearchService::Place(
    grpc::ServerContext* context, const v1::JobSpec& spec, absl::Time give_up,
    const std::function<void(const std::string&)>& progress) {
  int64_t seen = 0;
  for (bool first = true; !context->IsCancelled(); first = false) {
    RETURN_IF_ERROR(CheckStillServed(*context));
    const std::vector<v1::Platform> connected = parts_.workers->PlatformsFor(spec);
    std::vector<v1::Platform> platforms = connected;
    if (connected.empty()) {
      ASSIGN_OR_RETURN(platforms, PlatformsAsLastSeen(*parts_.store, spec));
    }
    for (const v1::Platform& platform : platforms) {
      v1::JobSpec placed = spec;
      SetPlatform(platform, &placed);
      const std::string salt = placed.salt();
      ASSIGN_OR_RETURN(const std::string job_id, IdOfJobToTry(*parts_.store, &placed));
      ASSIGN_OR_RETURN(const auto result, parts_.store->ReadResult(job_id));
      placed.set_salt(salt);
      if (result.has_value()) return placed;
    }
    if (!connected.empty()) {
      v1::JobSpec placed = spec;
      SetPlatform(connected[0], &placed);
      return placed;
    }
    if (Clock::Real().SteadyNow() >= give_up) {
      return absl::FailedPreconditionError(NoWorkerText(spec, parts_.workers->Workers()));
    }
    parts_.workers->NoteWanted(spec, absl::StrCat("evaluation ", JobId(spec)));
    if (first) progress("waiting for a worker");
    seen = parts_.results->Wait(seen, kPollInterval);
  }
  return absl::CancelledError("the caller went away");
}

}  // namespace ksearch
