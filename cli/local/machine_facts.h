#ifndef KSEARCH_CLI_LOCAL_MACHINE_FACTS_H_
#define KSEARCH_CLI_LOCAL_MACHINE_FACTS_H_

#include <string>
#include <vector>

#include "cli/local/environment.h"

namespace ksearch {

// Facts about this machine that can be found without running anything. Paths are empty if nothing
// was found.
struct MachineFacts {
  std::vector<std::string> gpus;  // "NVIDIA H200", as the driver names them
  std::string gxx;
  std::string nvcc;  // on PATH, or in the usual folders of toolkits
  std::string bubblewrap;
  std::string python;  // of VIRTUAL_ENV, otherwise on PATH
};

// `driver_folder`: the folder in which the driver lists its GPUs.
MachineFacts ExamineMachine(const Environment& environment,
                            const std::string& driver_folder = "/proc/driver/nvidia/gpus");

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_MACHINE_FACTS_H_
