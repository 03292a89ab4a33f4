#ifndef KSEARCH_COMMON_IDENTITY_H_
#define KSEARCH_COMMON_IDENTITY_H_

#include <string>

#include "proto/job.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Content names, equal on coordinator and worker: hex SHA-256 over length-prefixed fields in a
// fixed order (CanonicalBytes), never over serialized protos.

// Over language and files sorted by path.
std::string CandidateId(const v1::Sources& sources);

// Over every field of the job, the candidate and rivals by their CandidateId.
std::string JobId(const v1::JobSpec& spec);

// Over every field of the task.
std::string TaskDigest(const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_IDENTITY_H_
