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

// Returns the platforms with which connected workers could do such a job, the best choice first;
// they fill in what spec.platform leaves open. Empty if no worker can do it.
using PlatformSource = std::function<std::vector<v1::Platform>(const v1::JobSpec& spec)>;

// The suffix of the tag of a job that repeats, on the run's own platform, a job that was done on
// another platform.
inline constexpr char kOwnPlatformTagEnd[] = "/own";

// The platform with which to measure the scores of a run with this config, for a task of this
// device class: config.platform, completed by the workers. nullopt if no connected worker can do
// it. A null `source` completes nothing.
std::optional<v1::Platform> ChoosePlatform(const v1::RunConfig& config, v1::DeviceClass device,
                                           const PlatformSource& source);

// The platform with which the run's first result was measured: its existing scores must not be
// compared with others. Empty if it has no such result. For runs started by versions that did not
// store a platform.
absl::StatusOr<v1::Platform> PlatformOfFirstResult(Store& store, const std::string& run_id);

// Returns true if the result for `tag` does not count for a run with platform `own`, because it was
// measured with another one. A screening in which the candidate fails for a reason that is common
// to all devices of one architecture counts.
bool MustRepeat(const v1::JobResult& result, const std::string& tag, const v1::Platform& own);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_PLATFORM_H_
