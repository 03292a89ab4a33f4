#ifndef KSEARCH_GPU_WORKER_PROFILE_NCU_COMMAND_H_
#define KSEARCH_GPU_WORKER_PROFILE_NCU_COMMAND_H_

#include <string>
#include <vector>

namespace ksearch {

// Which kernel launches of the process are profiled; each is replayed a few dozen times.
struct NcuLaunches {
  int skip = 0;  // the first ones: those of warming up and of the harness
  int count = 8;
};

// The arguments of ncu that make it print what ParseNcuCsv reads, without the program's own path
// and without the program to profile. Clocks are left alone, as other devices' jobs depend on them
// and an unprivileged process may not set them; caches are emptied before every replay, as every
// timed call finds them.
std::vector<std::string> NcuArguments(const NcuLaunches& launches);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_PROFILE_NCU_COMMAND_H_
