#ifndef KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_
#define KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "gpu_worker/runner/program.h"
#include "proto/runner.pb.h"

namespace ksearch {

// At most so much of BatchRequest.Preparation.flush_bytes is written before a call.
inline constexpr int64_t kMostFlushBytes = int64_t{1} << 30;

// What depends on the class of device in a runner: memory, and calls with their timing. Thread-
// compatible.
class Execution {
 public:
  virtual ~Execution() = default;
  // Fills *reply with `mapped` or an error. The descriptors are closed before any of the program's
  // code runs.
  virtual void Map(const v1::MapRequest& request, std::vector<UniqueFd> fds, Program& program,
                   v1::RunnerReply* reply) = 0;
  // Fills *reply with `done` or an error. False: nothing can be run after this, the runner ends.
  virtual bool RunBatch(const v1::BatchRequest& request, Program& program,
                        v1::RunnerReply* reply) = 0;
};

// Once all buffers are mapped: Program::Setup; replaces *reply, which is `mapped`, by an error if
// that fails.
void SetUpIfComplete(const ArgumentBlocks& arguments, Program& program, v1::RunnerReply* reply);

// An error whose text is fit for a message: cut, and without bytes that are no ASCII.
void SetError(v1::RunnerReply* reply, v1::RunnerReply::RunnerError::Code code, int value,
              const std::string& text);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_
