#ifndef KSEARCH_COORDINATOR_SUITES_HELD_OUT_CHOICE_H_
#define KSEARCH_COORDINATOR_SUITES_HELD_OUT_CHOICE_H_

#include "proto/task.pb.h"

namespace ksearch {

// Marks workloads of a task whose suite holds none out: every fifth in their order, beginning with
// the third, or the last of two to four. Where there is only one, it is added once more, as
// "<uuid>_held_out", with contents of its own.
void ChooseHeldOut(v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_HELD_OUT_CHOICE_H_
