#ifndef KSEARCH_COORDINATOR_SUITES_HELD_OUT_CHOICE_H_
#define KSEARCH_COORDINATOR_SUITES_HELD_OUT_CHOICE_H_

#include "proto/task.pb.h"

namespace ksearch {

// Chooses held-out workloads for a task whose suite has none: every fifth one, beginning with the
// third, or the last one of two to four. A single workload is added a second time as
// "<uuid>_held_out", with its own inputs.
void ChooseHeldOut(v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_HELD_OUT_CHOICE_H_
