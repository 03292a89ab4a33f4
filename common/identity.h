#ifndef KSEARCH_COMMON_IDENTITY_H_
#define KSEARCH_COMMON_IDENTITY_H_

#include <string>

#include "proto/job.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Content names, equal on coordinator and worker: hex SHA-256, never over serialized protos. Every
// name covers a version, so that names of different rules never meet.

// Over language and files sorted by path.
std::string CandidateId(const v1::Sources& sources);

// Over every field of the job (canonical_encoding.h) but those marked `not_identity`.
std::string JobId(const v1::JobSpec& spec);

// Over every field of the task, likewise.
std::string TaskDigest(const v1::Task& task);

// Returns true if `name` stands for the job or the task by the rule above, or by that of earlier
// releases (identity_v1.h), whose jobs and tasks may still be on record.
bool IsJobName(const std::string& name, const v1::JobSpec& spec);
bool IsTaskName(const std::string& name, const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_IDENTITY_H_
