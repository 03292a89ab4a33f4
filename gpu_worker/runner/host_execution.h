#ifndef KSEARCH_GPU_WORKER_RUNNER_HOST_EXECUTION_H_
#define KSEARCH_GPU_WORKER_RUNNER_HOST_EXECUTION_H_

#include <string>
#include <vector>

#include "gpu_worker/runner/execution.h"
#include "gpu_worker/runner/mapped_buffers.h"

namespace ksearch {

// Candidates that run on this machine's cores.
class HostExecution final : public Execution {
 public:
  void Map(const v1::MapRequest& request, std::vector<UniqueFd> fds, Program& program,
           v1::RunnerReply* reply) override;
  bool RunBatch(const v1::BatchRequest& request, Program& program, v1::RunnerReply* reply) override;

 private:
  void PrepareCall(const v1::BatchRequest::Preparation& preparation, int set);

  MappedBuffers buffers_;
  std::vector<unsigned char> flushed_;  // BatchRequest.PREPARED
  unsigned char flushes_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_HOST_EXECUTION_H_
