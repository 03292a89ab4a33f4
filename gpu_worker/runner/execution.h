#ifndef KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_
#define KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "gpu_worker/runner/program.h"
#include "proto/runner.pb.h"

namespace ksearch {

// The limit of BatchRequest.Preparation.flush_bytes.
inline constexpr int64_t kMostFlushBytes = int64_t{1} << 30;

// The parts of a runner that depend on the class of device: memory, and calls with their timing.
// Thread-compatible.
class Execution {
 public:
  virtual ~Execution() = default;
  // Fills *reply with `mapped` or an error. The descriptors are closed before any of the program's
  // code runs.
  virtual void Map(const v1::MapRequest& request, std::vector<UniqueFd> fds, Program& program,
                   v1::RunnerReply* reply) = 0;
  // Fills *reply with `done` or an error. Returns false if nothing can be run afterwards and the
  // runner must end.
  virtual bool RunBatch(const v1::BatchRequest& request, Program& program,
                        v1::RunnerReply* reply) = 0;
};

// Once all buffers are mapped: calls Program::Setup; if that fails, replaces *reply, which is
// `mapped`, with an error.
void SetUpIfComplete(const ArgumentBlocks& arguments, Program& program, v1::RunnerReply* reply);

// Sets an error whose text is safe for a message: truncated, and in ASCII.
void SetError(v1::RunnerReply* reply, v1::RunnerReply::RunnerError::Code code, int value,
              const std::string& text);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_
