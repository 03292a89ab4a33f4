#ifndef KSEARCH_COMMON_JOB_KIND_H_
#define KSEARCH_COMMON_JOB_KIND_H_

#include "proto/job.pb.h"

namespace ksearch {

// Returns true if jobs of this kind run no program of the task on a device, so that a worker
// without one can do them, and no reference is needed.
inline bool TakesNoDevice(v1::JobKind kind) {
  return kind == v1::JOB_KIND_BUILD || kind == v1::JOB_KIND_DESCRIBE;
}

}  // namespace ksearch

#endif  // KSEARCH_COMMON_JOB_KIND_H_
