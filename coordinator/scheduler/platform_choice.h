#ifndef KSEARCH_COORDINATOR_SCHEDULER_PLATFORM_CHOICE_H_
#define KSEARCH_COORDINATOR_SCHEDULER_PLATFORM_CHOICE_H_

#include <string>
#include <vector>

#include "proto/job.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// The platforms with which these workers could do the job: what spec.platform leaves open is filled
// in, one entry for every way to do so. The one that most devices share comes first; among equals
// the order is that of their text, so that the same fleet always gives the same answer. A BUILD
// job's have no device.
std::vector<v1::Platform> PlatformsFor(const std::vector<v1::WorkerHello>& workers,
                                       const v1::JobSpec& spec);

// Why a result of the job would not be looked at if the same job were asked for now, when it could
// be done with any of `platforms` (of PlatformsFor, for the job without its platform): what is
// different, in one line. Empty: it would be.
std::string WhyStale(const v1::JobSpec& spec, const std::vector<v1::Platform>& platforms);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_PLATFORM_CHOICE_H_
