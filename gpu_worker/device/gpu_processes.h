#ifndef KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_
#define KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_

#include <string>
#include <vector>

namespace ksearch {

struct ForeignProcessRules {
  // Also count processes that /proc does not show: those of another container, or our own under the
  // host's process ids.
  bool unseen = false;
  // Also count other workers and their children that run as another account: their default lock is
  // another file, so they would not take turns with this one.
  bool other_accounts = false;
  std::string proc = "/proc";
};

// Other programs that compute on a GPU: those of `pids` that are neither this process, nor started
// by it, nor programs of this project or started by one (another worker's, which takes turns by the
// device lock), each as "pid (name)".
std::vector<std::string> ForeignProcesses(const std::vector<int>& pids,
                                          const ForeignProcessRules& rules);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_
