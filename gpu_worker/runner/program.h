#ifndef KSEARCH_GPU_WORKER_RUNNER_PROGRAM_H_
#define KSEARCH_GPU_WORKER_RUNNER_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "gpu_worker/runner/argument_blocks.h"
#include "proto/runner.pb.h"

namespace ksearch {

// The one program of a runner, in whichever language: a candidate, or one of the task's own. It is
// never unloaded: the process has one program and one life. Memory, clocks and devices are the
// Execution's. Thread-compatible.
class Program {
 public:
  virtual ~Program() = default;
  // Runs what the program does when it is loaded. Once; `fds` came with the request. Fills *reply
  // with `loaded` or an error.
  virtual void Load(const v1::LoadRequest& request, const std::vector<UniqueFd>& fds,
                    v1::RunnerReply* reply) = 0;
  virtual bool loaded() const = 0;
  // The scratch memory that calls want under a workload, whose argument block this is, every
  // pointer null. 0: none, or nothing is loaded.
  virtual int64_t WorkspaceBytes(const uint64_t* arguments) = 0;
  // Whenever all buffers of a workload are there: makes what calls on its sets need beside their
  // blocks, which stay as they are until the next Setup. False: it raised an exception.
  virtual bool Setup(const ArgumentBlocks& arguments) = 0;
  // Returns true if the first call on a workload loads code onto a GPU, which waits for the device:
  // it must not be held meanwhile.
  virtual bool LoadsInFirstCall() const = 0;
  // One call on a set of the last Setup. `arguments` is a copy of the set's block, the program may
  // write to it; `stream` is the CUstream to run on, null on processors. Returns 0 if all went
  // well.
  virtual int Call(int set, uint64_t* arguments, void* stream) = 0;
  // One of the calls that a suite's clock times: tells `mark` right before the program's own work
  // begins (false) and right after it (true), unless it fails. `repeated`: as the last one, on the
  // same set and inputs, so that what the program's form builds around these is not built again. Of
  // a program that returns its outputs the results are kept for CopyResults. As Call.
  using Mark = std::function<void(bool end)>;
  virtual int TimedCall(int set, uint64_t* arguments, void* stream, bool repeated,
                        const Mark& mark) {
    static_cast<void>(repeated);
    mark(false);
    const int returned = Call(set, arguments, stream);
    mark(true);
    return returned;
  }
  // Returns true if the program returns its outputs, which are then copied into their place at the
  // end of a call, from the last Setup.
  virtual bool ReturnsOutputs() const { return false; }
  // For such a program, on a set in turns: makes a call's results and keeps them; copies those that
  // are kept to the outputs and drops them. As Call.
  virtual int CopyResults(int set, void* stream) {
    static_cast<void>(set), static_cast<void>(stream);
    return 0;
  }
  // The words of the exception that the last Setup or Call ended with, in ASCII; empty: it raised
  // none.
  virtual std::string Raised() const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_PROGRAM_H_
