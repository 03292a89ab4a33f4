#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_MEMORY_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_MEMORY_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/store/store.h"
#include "proto/config.pb.h"
#include "proto/memory.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// What a run reads from the memory of measured gains, once, before it starts. It is kept in the
// run's config, so that a resumed or repeated run sends the same prompts.

// Sets the mode if the request does not: OFF for a run of an experiment, whatever the coordinator's
// defaults say, else READ_WRITE.
void CompleteMemoryUse(const v1::RunConfig& request, v1::RunConfig* config);

// Sets config->memory_snapshot, if the mode allows reading and there is anything to read: gains
// measured on devices of the run's class and architecture (of any architecture while that is
// unknown), in its language, on no task of its benchmark unless within_benchmark, and by no run of
// its experiment.
absl::Status ReadMemory(Store* store, const v1::Task& task, absl::Time now, v1::RunConfig* config);

// The same for a run that repeats another one: it shows what that run showed, unless its mode is
// OFF, and adds nothing.
void RepeatMemory(const v1::MemorySnapshot& shown, v1::RunConfig* config);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_MEMORY_H_
