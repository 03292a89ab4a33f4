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
  // Started by a program that looks on (compute-sanitizer, ncu) and needs calls that the tight
  // filter forbids; on a GPU tensors are allocations of this process then, each exactly as long as
  // the tensor.
  bool instrumented = false;
  // For a program's warm stage (verifier/warm/warm_stage.h): compilers may be started, so the tight
  // filter is left out.
  bool warm = false;
};

// Other words are skipped.
RunnerFlags ParseRunnerFlags(int argc, char** argv);

// Returns true if this process was started with the socket of a dialogue.
bool HasDialogue();

// A runner's life: opens the device, installs the tight filter, greets the verifier over the
// SOCK_SEQPACKET socket on descriptor 3 and does what it asks for. Everything after LOAD is in the
// program's hands: the verifier believes nothing it says but "done". What the program's language
// brings along must be loaded before. Returns if the runner cannot be had at all; else the process
// ends here.
int RunDialogue(const RunnerFlags& flags, Program& program);

// For a runner that was started in advance and has nothing left to load: says so over the same
// socket, and waits until it is needed. False: it will not be needed.
bool AwaitBegin();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_DIALOGUE_H_
