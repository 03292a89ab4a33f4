#ifndef KSEARCH_GPU_WORKER_SANDBOX_PROCESS_TREE_H_
#define KSEARCH_GPU_WORKER_SANDBOX_PROCESS_TREE_H_

#include <sys/types.h>

#include "absl/time/time.h"

namespace ksearch {

// Stops `root`, a child of this process, and all processes below it (SIGSTOP), also those that they
// create meanwhile. Returns true once all are stopped or have ended, false if some still run after
// `most`. Nothing is stopped if `root` is no child of this process, which it is not once it was
// waited for.
bool StopTree(pid_t root, absl::Duration most);

// Lets all of them continue. Does nothing if `root` is no child of this process.
void ContinueTree(pid_t root);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_PROCESS_TREE_H_
