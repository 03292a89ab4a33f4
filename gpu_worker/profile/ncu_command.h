#ifndef KSEARCH_GPU_WORKER_PROFILE_NCU_COMMAND_H_
#define KSEARCH_GPU_WORKER_PROFILE_NCU_COMMAND_H_

#include <string>
#include <vector>

namespace ksearch {

// The kernel launches of the process that are profiled; each is replayed a few dozen times.
struct NcuLaunches {
  int skip = 0;  // first launches to skip: those of warming up and of the harness
  int count = 8;
};

// Returns the arguments with which ncu prints what ParseNcuCsv reads, without ncu's own path and
// the program to profile. Clocks are left unchanged, because other devices' jobs depend on them and
// an unprivileged process may not set them; caches are cleared before every replay, as before every
// timed call.
std::vector<std::string> NcuArguments(const NcuLaunches& launches);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_PROFILE_NCU_COMMAND_H_
