#ifndef KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_
#define KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_

#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "gpu_worker/runner/loaded_kernel.h"
#include "proto/runner.pb.h"

namespace ksearch {

// What depends on the class of device in a runner: memory, and calls with their timing. Thread-
// compatible.
class Execution {
 public:
  virtual ~Execution() = default;
  // The parameters of the entry, for error messages.
  virtual std::string EntryParameters() const = 0;
  // Fills *reply with `mapped` or an error.
  virtual void Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds,
                   const LoadedKernel& kernel, v1::RunnerReply* reply) = 0;
  // Fills *reply with `done` or an error. False: nothing can be run after this, the runner ends.
  virtual bool Go(const v1::GoRequest& request, const LoadedKernel& kernel,
                  v1::RunnerReply* reply) = 0;
};

// An error whose text is fit for a message: cut, and without bytes that are no ASCII.
void SetError(v1::RunnerReply* reply, v1::RunnerReply::RunnerError::Code code, int value,
              const std::string& text);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_EXECUTION_H_
