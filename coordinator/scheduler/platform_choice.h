#ifndef KSEARCH_COORDINATOR_SCHEDULER_PLATFORM_CHOICE_H_
#define KSEARCH_COORDINATOR_SCHEDULER_PLATFORM_CHOICE_H_

#include <string>
#include <vector>

#include "proto/job.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Returns the platforms with which these workers could run the job: every way to fill in what
// spec.platform leaves open. The platform that most devices share comes first; ties are ordered by
// the platform's text, so that the same fleet always gives the same answer. The platform of a BUILD
// job has no device.
std::vector<v1::Platform> PlatformsFor(const std::vector<v1::WorkerHello>& workers,
                                       const v1::JobSpec& spec);

// Returns, in one line, why an existing result of the job would not answer the same job today: how
// its platform differs from all of `platforms` (from PlatformsFor, for the job without its
// platform). Returns "" if it would.
std::string WhyStale(const v1::JobSpec& spec, const std::vector<v1::Platform>& platforms);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_PLATFORM_CHOICE_H_
