#ifndef KSEARCH_GPU_WORKER_RUNNER_CUDA_CUDA_EXECUTION_H_
#define KSEARCH_GPU_WORKER_RUNNER_CUDA_CUDA_EXECUTION_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/runner/cuda/device_buffers.h"
#include "gpu_worker/runner/cuda/gate.h"
#include "gpu_worker/runner/execution.h"

namespace ksearch {

// Candidates that run on one GPU, on one stream of its primary context. The stream waits for the
// default stream and the other way round: a candidate that forgets its stream argument is still
// timed as it runs.
class CudaExecution final : public Execution {
 public:
  // Context, stream, events and one trusted kernel: after this the driver has opened its files and
  // started its threads, so a tight filter may follow. `instrumented`: under a program that looks
  // on. Tensors are copied to allocations of this process for each call and back, and what a
  // profiler sees is the calls alone.
  static absl::StatusOr<std::unique_ptr<CudaExecution>> Open(const std::string& gpu_uuid,
                                                             bool instrumented);

  std::string EntryParameters() const override { return "const KsearchArgs*, cudaStream_t"; }
  void Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds,
           const LoadedKernel& kernel, v1::RunnerReply* reply) override;
  bool Go(const v1::GoRequest& request, const LoadedKernel& kernel,
          v1::RunnerReply* reply) override;

 private:
  static constexpr int kGraphs = 8;
  struct Graph {
    std::vector<int> set_order;
    CudaGraphExec exec;
  };
  // Why a GO ended early; none: it did not.
  struct Failure {
    bool failed = false;
    bool returned = false;  // the entry returned a number other than 0
    int value = 0;          // it, or a CUresult
    std::string doing;
  };

  CudaExecution(std::shared_ptr<const CudaDevice> device, Gate gate, CudaStream stream,
                bool instrumented)
      : device_(std::move(device)),
        gate_(std::move(gate)),
        stream_(std::move(stream)),
        instrumented_(instrumented),
        buffers_(device_, instrumented) {}

  const DriverApi& api() const { return device_->api(); }
  Failure Run(const v1::GoRequest& request, const LoadedKernel& kernel,
              v1::RunnerReply::Done* done);
  Failure RunSynced(const std::vector<int>& order, const LoadedKernel& kernel,
                    v1::RunnerReply::Done* done);
  Failure RunEvents(const std::vector<int>& order, const LoadedKernel& kernel,
                    v1::RunnerReply::Done* done);
  Failure RunFree(const std::vector<int>& order, const LoadedKernel& kernel,
                  v1::RunnerReply::Done* done);
  Failure Capture(const std::vector<int>& order, int graph, const LoadedKernel& kernel,
                  v1::RunnerReply::Done* done);
  Failure Replay(const std::vector<int>& order, int graph, v1::RunnerReply::Done* done);
  // One call; adds its host time.
  Failure Call(int set, const LoadedKernel& kernel, v1::RunnerReply::Done* done);
  Failure CallInstrumented(int set, const LoadedKernel& kernel, v1::RunnerReply::Done* done);
  Failure Synchronize();
  Failure ReadEventPair(size_t first, v1::RunnerReply::Done* done);
  Failure Check(CUresult result, const char* doing) const;
  // Fills the error; false if the context cannot be used any more.
  bool Report(Failure failure, v1::RunnerReply* reply);

  std::shared_ptr<const CudaDevice> device_;
  Gate gate_;
  CudaStream stream_;
  std::vector<CudaEvent> events_;
  std::vector<uint64_t> arguments_;
  const bool instrumented_;
  bool called_ = false;  // instrumented: at least once
  DeviceBuffers buffers_;
  std::array<Graph, kGraphs> graphs_;
  // A candidate that waits for the device within a call has opened the gate once; asking it again
  // costs milliseconds.
  bool gate_useful_ = true;
  bool led_in_ = false;  // the last GO was empty
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CUDA_CUDA_EXECUTION_H_
