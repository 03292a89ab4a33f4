#ifndef KSEARCH_GPU_WORKER_RUNNER_DIALOGUE_H_
#define KSEARCH_GPU_WORKER_RUNNER_DIALOGUE_H_

#include <string>

#include "gpu_worker/runner/program.h"

namespace ksearch {

// [--gpu=UUID] [--gpu-filter=NAME] [--instrumented] [--warm], as RunnerStarter gives them to every
// runner.
struct RunnerFlags {
  std::string gpu;         // empty: none
  std::string gpu_filter;  // as in GpuFilterNamed
  // Started by an instrument (compute-sanitizer, ncu) that needs calls which the tight filter
  // forbids; on a GPU, tensors are then allocations of this process, each exactly as long as the
  // tensor.
  bool instrumented = false;
  // For a program's warm stage (verifier/warm/warm_stage.h): compilers may be started, so the tight
  // filter is not installed.
  bool warm = false;
};

// Other arguments are ignored.
RunnerFlags ParseRunnerFlags(int argc, char** argv);

// Returns true if this process was started with the socket of a dialogue.
bool HasDialogue();

// Runs a runner's dialogue: opens the device, installs the tight filter, greets the verifier over
// the SOCK_SEQPACKET socket on descriptor 3 and carries out its requests. Everything after LOAD is
// under the program's control: the verifier trusts none of its messages but "done". Whatever the
// program's language needs must be loaded before. Returns only if the runner cannot start;
// otherwise the process ends here.
int RunDialogue(const RunnerFlags& flags, Program& program);

// For a runner that was started in advance and has nothing left to load: says so over the same
// socket, and waits until it is needed. Returns false if it will not be needed.
bool AwaitBegin();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_DIALOGUE_H_
