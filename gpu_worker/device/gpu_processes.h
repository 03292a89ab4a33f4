#ifndef KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_
#define KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_

#include <string>
#include <vector>

namespace ksearch {

// Who else computes on a GPU. Of `pids`, those that are neither this process, nor begun by it, nor
// programs of this project (another worker's, which takes turns by the device lock), each as "pid
// (name)". `unseen_too`: also those that /proc does not show, which are of another container, or
// our own under the numbers of the host.
std::vector<std::string> ForeignProcesses(const std::vector<int>& pids, bool unseen_too,
                                          const std::string& proc = "/proc");

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_GPU_PROCESSES_H_
