#ifndef KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_
#define KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_

#include <string>
#include <vector>

namespace ksearch {

struct ForeignProcessRules {
  // Also those that /proc does not show, which are of another container, or our own under the
  // numbers of the host.
  bool unseen = false;
  // Also other workers, and what they began, if they run as another account: their default lock is
  // another file, so they would not take turns with this one.
  bool other_accounts = false;
  std::string proc = "/proc";
};

// Who else computes on a GPU. Of `pids`, those that are neither this process, nor begun by it, nor
// programs of this project or begun by one (another worker's, which takes turns by the device
// lock), each as "pid (name)".
std::vector<std::string> ForeignProcesses(const std::vector<int>& pids,
                                          const ForeignProcessRules& rules);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_
