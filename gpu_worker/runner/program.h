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

// The one program of a runner, in any language: a candidate, or one of the task's own. It is never
// unloaded: the process runs a single program. Memory, clocks and devices belong to the Execution.
// Thread-compatible.
class Program {
 public:
  virtual ~Program() = default;
  // Runs the program's loading code. Called once; `fds` came with the request. Fills *reply with
  // `loaded` or an error.
  virtual void Load(const v1::LoadRequest& request, const std::vector<UniqueFd>& fds,
                    v1::RunnerReply* reply) = 0;
  virtual bool loaded() const = 0;
  // Returns the scratch memory that calls need for a workload with this argument block, in which
  // every pointer is null. 0: none, or nothing is loaded.
  virtual int64_t WorkspaceBytes(const uint64_t* arguments) = 0;
  // Called whenever all buffers of a workload are mapped: prepares what calls on its sets need
  // besides their blocks, which stay unchanged until the next Setup. Returns false if it raised an
  // exception.
  virtual bool Setup(const ArgumentBlocks& arguments) = 0;
  // Returns true if the first call on a workload loads code onto a GPU, which waits for the device:
  // it must not be held meanwhile.
  virtual bool LoadsInFirstCall() const = 0;
  // Makes one call on a set of the last Setup. `arguments` is a copy of the set's block, which the
  // program may write to; `stream` is the CUstream to run on, null on processors. Returns 0 on
  // success.
  virtual int Call(int set, uint64_t* arguments, void* stream) = 0;
  // Makes one of the calls that a suite's clock times: calls `mark` right before the program's own
  // work begins (false) and right after it (true), unless it fails. `repeated`: same set and inputs
  // as the previous call, so that objects that the program's form builds around these are not built
  // again. The results of a program that returns its outputs are kept for CopyResults. Returns as
  // Call.
  using Mark = std::function<void(bool end)>;
  virtual int TimedCall(int set, uint64_t* arguments, void* stream, bool repeated,
                        const Mark& mark) {
    static_cast<void>(repeated);
    mark(false);
    const int returned = Call(set, arguments, stream);
    mark(true);
    return returned;
  }
  // Returns true if, by the last Setup, the program returns its outputs, which are then copied into
  // place at the end of a call.
  virtual bool ReturnsOutputs() const { return false; }
  // For such a program, alternately on a set: makes a call's results and keeps them; copies the
  // kept results to the outputs and drops them. Returns as Call.
  virtual int CopyResults(int set, void* stream) {
    static_cast<void>(set), static_cast<void>(stream);
    return 0;
  }
  // Returns the message of the exception that ended the last Setup or Call, in ASCII; empty if
  // there was none.
  virtual std::string Raised() const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_PROGRAM_H_
