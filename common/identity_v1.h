#ifndef KSEARCH_COMMON_IDENTITY_V1_H_
#define KSEARCH_COMMON_IDENTITY_V1_H_

#include <string>

#include "proto/job.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Names as releases before canonical_encoding.h gave them. They leave fields out (distributions of
// inputs, platforms of jobs), so nothing new gets one; what was recorded under one can still be
// found by it.
std::string JobIdV1(const v1::JobSpec& spec);
std::string TaskDigestV1(const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_IDENTITY_V1_H_
