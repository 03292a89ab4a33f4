#ifndef KSEARCH_COORDINATOR_ENGINE_CONTINUED_RUN_H_
#define KSEARCH_COORDINATOR_ENGINE_CONTINUED_RUN_H_

#include "absl/status/status.h"
#include "coordinator/store/store.h"
#include "proto/config.pb.h"

namespace ksearch {

// Resolves `continue_from_solution` and `continue_from_world_model`: puts the best confirmed
// program of that run into the configuration as seed_solution, and its newest tree with the
// programs of the tree's solved nodes as initial_tree. Both fields become full run ids. A
// configuration that names no run is unchanged. NOT_FOUND: no such run, or it has no confirmed
// program; INVALID_ARGUMENT names the field: another task or language, a program or tree that is
// also given, or a strategy without a tree.
absl::Status ContinueFromRun(Store& store, v1::RunConfig* config);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_CONTINUED_RUN_H_
