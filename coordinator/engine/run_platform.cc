#include "coordinator/engine/run_platform.h"

#include "absl/strings/match.h"
#include "common/platform.h"
#include "common/status_macros.h"
#include "coordinator/search/search_strategy.h"

namespace ksearch {
namespace {

constexpr int kArrivalsPerRead = 256;

// Returns true if the candidate fails on every device of the architecture. A smaller or slower
// device may run out of memory or time where another does not.
bool FailsEverywhere(v1::Outcome outcome) {
  switch (outcome) {
    case v1::OUTCOME_INVALID_SOURCE:
    case v1::OUTCOME_COMPILE_ERROR:
    case v1::OUTCOME_LOAD_ERROR:
    case v1::OUTCOME_INCORRECT:
    case v1::OUTCOME_OUT_OF_BOUNDS:
    case v1::OUTCOME_INPUT_MODIFIED:
    case v1::OUTCOME_CHEAT:
      return true;
    default:
      return false;
  }
}

bool IsScreening(const std::string& tag) {
  return !absl::StartsWith(tag, "confirm/") && !absl::EndsWith(tag, kProfileTagEnd);
}

}  // namespace

std::optional<v1::Platform> ChoosePlatform(const v1::RunConfig& config, v1::DeviceClass device,
                                           const PlatformSource& source) {
  if (source == nullptr || IsComplete(config.platform())) return config.platform();
  v1::JobSpec spec;
  spec.set_kind(v1::JOB_KIND_SCREEN);
  spec.set_device(device);
  spec.mutable_candidate()->set_language(config.language());
  *spec.mutable_platform() = config.platform();
  const std::vector<v1::Platform> platforms = source(spec);
  if (platforms.empty()) return std::nullopt;
  return platforms[0];
}

absl::StatusOr<v1::Platform> PlatformOfFirstResult(Store& store, const std::string& run_id) {
  for (int64_t after = 0;;) {
    ASSIGN_OR_RETURN(const auto arrivals, store.ReadArrivals(run_id, after, kArrivalsPerRead));
    if (arrivals.empty()) return v1::Platform();
    for (const Arrival& arrival : arrivals) {
      if (arrival.kind != Arrival::Kind::kResult) continue;
      ASSIGN_OR_RETURN(const auto result, store.ReadResult(arrival.ref));
      if (result.has_value() && result->has_device()) return PlatformOf(result->device());
    }
    after = arrivals.back().seq;
  }
}

bool MustRepeat(const v1::JobResult& result, const std::string& tag, const v1::Platform& own) {
  // A result without a device was not measured.
  if (!result.has_device() || Meets(PlatformOf(result.device()), own)) return false;
  if (absl::EndsWith(tag, kOwnPlatformTagEnd)) return false;
  return !IsScreening(tag) || !FailsEverywhere(result.outcome());
}

}  // namespace ksearch
