#ifndef KSEARCH_COORDINATOR_MEMORY_BOTTLENECK_H_
#define KSEARCH_COORDINATOR_MEMORY_BOTTLENECK_H_

#include "proto/memory.pb.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// What limits the program that `result`, a screening, is of: by its profile if it has one, else by
// how far its calls are from an empty one and from the floor of its work. Unspecified where neither
// says enough, as for most programs that no profiler saw. A pure function.
v1::Bottleneck BottleneckOf(const v1::Task& task, const v1::JobResult& result);

// The same of the task's baseline, which `result` timed beside its program.
v1::Bottleneck BaselineBottleneckOf(const v1::Task& task, const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_MEMORY_BOTTLENECK_H_
