#ifndef KSEARCH_COORDINATOR_MEMORY_BOTTLENECK_H_
#define KSEARCH_COORDINATOR_MEMORY_BOTTLENECK_H_

#include "proto/memory.pb.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Returns the bottleneck of the program whose screening `result` is. Uses its profile if there is
// one, otherwise the distance of its times from an empty call and from the floor. Unspecified if
// neither is conclusive, as for most programs without a profile. A pure function.
v1::Bottleneck BottleneckOf(const v1::Task& task, const v1::JobResult& result);

// The same for the task's baseline, which `result` timed beside its program.
v1::Bottleneck BaselineBottleneckOf(const v1::Task& task, const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_MEMORY_BOTTLENECK_H_
