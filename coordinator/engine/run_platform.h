#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_PLATFORM_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_PLATFORM_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// With what connected workers could do such a job, the best choice first; what spec.platform leaves
// open is theirs. Empty: nobody can.
using PlatformSource = std::function<std::vector<v1::Platform>(const v1::JobSpec& spec)>;

// Ends the tag of a job that repeats, on the run's own platform, what was done on another one.
inline constexpr char kOwnPlatformTagEnd[] = "/own";

// What the scores of a run with this config, of a task for this class of device, are to be measured
// with: config.platform, completed by the workers. nullopt: no worker is there that could. A null
// `source` completes nothing.
std::optional<v1::Platform> ChoosePlatform(const v1::RunConfig& config, v1::DeviceClass device,
                                           const PlatformSource& source);

// With what the first result of the run was measured; the scores that it has by now are to be
// compared with no others. Nothing is set if it has no such result. For runs that began before
// they kept a platform.
absl::StatusOr<v1::Platform> PlatformOfFirstResult(Store& store, const std::string& run_id);

// Whether a result that was asked for as `tag` says nothing yet for a run of platform `own`: it was
// measured with another one. A screening in which the candidate fails for a reason that devices of
// one architecture share says enough.
bool MustRepeat(const v1::JobResult& result, const std::string& tag, const v1::Platform& own);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_PLATFORM_H_
