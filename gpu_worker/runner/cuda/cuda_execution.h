#ifndef KSEARCH_GPU_WORKER_RUNNER_CUDA_CUDA_EXECUTION_H_
#define KSEARCH_GPU_WORKER_RUNNER_CUDA_CUDA_EXECUTION_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/cuda/call_chain.h"
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/cuda/separators.h"
#include "gpu_worker/runner/cuda/device_buffers.h"
#include "gpu_worker/runner/execution.h"

namespace ksearch {

// Candidates that run on one GPU, on one stream of its primary context. The stream and the default
// stream wait for each other, so that a candidate that forgets its stream argument is still timed
// correctly. Every call is alone on the device: separators stand before and after it, both in a
// chain of recorded calls and on the stream, where the device is also idle before the next call.
class CudaExecution final : public Execution {
 public:
  // Opens context, stream and trusted kernels. Afterwards the driver has opened its files and
  // started its threads, so that a tight filter may follow. `instrumented`: an instrument observes
  // the process. For each call, tensors are then copied to allocations of this process and back,
  // and a profiler sees only the calls.
  static absl::StatusOr<std::unique_ptr<CudaExecution>> Open(const std::string& gpu_uuid,
                                                             bool instrumented);

  void Map(const v1::MapRequest& request, std::vector<UniqueFd> fds, Program& program,
           v1::RunnerReply* reply) override;
  bool RunBatch(const v1::BatchRequest& request, Program& program, v1::RunnerReply* reply) override;

 private:
  static constexpr int kChains = 8;
  struct Chain {
    std::vector<int> set_order;
    CallChain calls;
  };
  enum class Hold { kNo, kUntilQueued };
  // Why a batch ended early; none if it did not.
  struct Failure {
    bool failed = false;
    bool returned = false;  // the entry returned a number other than 0
    int value = 0;          // that number, or a CUresult
    std::string doing;
    std::string raised = {};  // the message of an exception
  };

  CudaExecution(std::shared_ptr<const CudaDevice> device, Separators separators, CudaStream stream,
                bool instrumented)
      : device_(std::move(device)),
        separators_(std::move(separators)),
        stream_(std::move(stream)),
        instrumented_(instrumented),
        buffers_(device_, instrumented) {}

  const DriverApi& api() const { return device_->api(); }
  Failure Run(const v1::BatchRequest& request, Program& program, v1::RunnerReply::Done* done);
  // Runs each call between two separators, with the device idle before the next one.
  Failure RunAlone(const std::vector<int>& order, Hold hold, Program& program,
                   v1::RunnerReply::Done* done);
  // Runs each call after `preparation`, between two events.
  Failure RunPrepared(const std::vector<int>& order,
                      const v1::BatchRequest::Preparation& preparation, Program& program,
                      v1::RunnerReply::Done* done);
  Failure PrepareCall(const v1::BatchRequest::Preparation& preparation, int set);
  // `repeated` is as in Program::TimedCall. Records begin_ and end_.
  Failure CallBetweenEvents(int set, bool repeated, Program& program);
  Failure RunInstrumented(const std::vector<int>& order, Program& program,
                          v1::RunnerReply::Done* done);
  // Runs no code of a candidate, but otherwise the same as RunAlone.
  Failure RunNothing();
  Failure Capture(const std::vector<int>& order, Program& program, v1::RunnerReply::Done* done);
  // Records one call. Returns why that is impossible, or "".
  std::string CaptureOne(int set, Program& program, v1::RunnerReply::Done* done);
  Failure MakeChain(const std::vector<int>& order, int chain, v1::RunnerReply::Done* done);
  Failure Replay(const std::vector<int>& order, int chain, v1::RunnerReply::Done* done);
  // The arguments of the call that begins now.
  uint64_t* ArgumentsOf(int set);
  // One call; adds its host time.
  Failure Call(int set, Program& program, v1::RunnerReply::Done* done);
  Failure CallInstrumented(int set, Program& program, v1::RunnerReply::Done* done);
  Failure Synchronize();
  Failure Check(CUresult result, const char* doing) const;
  // `result`: of reading these stamps.
  Failure Read(CUresult result, const std::vector<uint64_t>& stamps) const;
  // Fills in the error. Returns false if the context is no longer usable.
  bool Report(Failure failure, v1::RunnerReply* reply);

  std::shared_ptr<const CudaDevice> device_;
  Separators separators_;
  CudaStream stream_;
  std::vector<uint64_t> arguments_;
  const bool instrumented_;
  bool called_ = false;  // instrumented: at least once
  DeviceBuffers buffers_;
  std::vector<CudaGraph> recorded_;  // by set; unknown to all other code in the process
  std::array<Chain, kChains> chains_;
  // False for a candidate that waits for the device within a call, for which every attempt costs
  // milliseconds.
  bool hold_useful_ = true;
  bool called_since_map_ = false;
  bool led_in_ = false;  // the last batch was empty
  bool copies_ = false;  // BatchRequest.copies of the batch in progress
  // BatchRequest.PREPARED: the memory written before calls, and the events around them.
  CudaBlock flushed_;
  int64_t flushed_bytes_ = 0;
  CudaEvent begin_, end_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CUDA_CUDA_EXECUTION_H_
