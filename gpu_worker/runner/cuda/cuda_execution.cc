#include "gpu_worker/runner/cuda/cuda_execution.h"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "common/status_macros.h"
#include "gpu_worker/cuda/cuda_error.h"
#include "gpu_worker/runner/cuda/sealed_code.h"

namespace ksearch {
namespace {

// The stamp of the separator that holds the device while a graph is launched; it times no call.
constexpr int kUnusedStamp = Separators::kMaxStamps - 1;
constexpr size_t kMaxCalls = Separators::kMaxStamps / 2 - 1;

// Evaluators of suites call on the default stream, which is torch's current one there. A program
// that uses it by itself then does not have to wait for another stream.
const CUstream kSuiteStream = CU_STREAM_LEGACY;

// No batch takes this long.
constexpr uint64_t kLongestNanos = 3'600'000'000'000;

// The candidate's kernels can write to the stamps' memory, but no times (StampSeal).
bool AreTimes(const std::vector<uint64_t>& stamps) {
  return std::is_sorted(stamps.begin(), stamps.end()) &&
         stamps.back() - stamps.front() < kLongestNanos;
}

uint64_t MonotonicNanos() {
  struct timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

v1::RunnerReply::RunnerError::Code CodeOf(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted
             ? v1::RunnerReply::RunnerError::OUT_OF_MEMORY
             : v1::RunnerReply::RunnerError::MAP_FAILED;
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaExecution>> CudaExecution::Open(const std::string& gpu_uuid,
                                                                   bool instrumented) {
  ASSIGN_OR_RETURN(auto loaded, DriverApi::Load());
  ASSIGN_OR_RETURN(auto device, CudaDevice::Open(std::move(loaded), gpu_uuid));
  const DriverApi& api = device->api();
  CUstream raw = nullptr;
  RETURN_IF_CUDA_ERROR(api, api.cuStreamCreate(&raw, CU_STREAM_DEFAULT), "make a stream");
  CudaStream stream(api, raw);
  ASSIGN_OR_RETURN(Separators separators, Separators::Create(*device));
  const CUdevice device_handle = device->handle();
  auto execution = std::unique_ptr<CudaExecution>(
      new CudaExecution(std::move(device), std::move(separators), std::move(stream), instrumented));
  // A reserved part of the cache must not keep data from call to call. Not every device supports
  // this limit.
  api.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  // The device's own pool, where cudaMallocAsync takes memory from, would give it back to the
  // system at every wait for the device. That takes a call's own time many times over, outside of
  // the call.
  CUmemoryPool pool = nullptr;
  if (api.cuDeviceGetDefaultMemPool(&pool, device_handle) == CUDA_SUCCESS) {
    cuuint64_t kept_bytes = std::numeric_limits<cuuint64_t>::max();
    api.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept_bytes);
  }
  // An instrumenting tool would examine separators, too.
  if (instrumented) return execution;
  const Failure failure = execution->RunNothing();
  RETURN_IF_CUDA_ERROR(execution->api(), static_cast<CUresult>(failure.value),
                       "run the first kernels");
#ifndef KSEARCH_SANITIZED
  // The driver has loaded its libraries by now, and the candidate is not loaded yet. Not with
  // sanitizers, which, like the tools above, replace other code.
  SealLoadedCode();
#endif
  return execution;
}

void CudaExecution::Map(const v1::MapRequest& request, std::vector<UniqueFd> fds, Program& program,
                        v1::RunnerReply* reply) {
  if (!request.append()) {
    for (Chain& chain : chains_) chain = Chain();
    recorded_.clear();
    recorded_.resize(static_cast<size_t>(std::max(0, request.sets())));
    hold_useful_ = true;
    called_since_map_ = false;
  }
  if (const absl::Status mapped = buffers_.Map(request, fds); !mapped.ok()) {
    SetError(reply, CodeOf(mapped), 0, MessageOf(mapped));
    return;
  }
  fds.clear();
  reply->mutable_mapped();
  if (!request.append()) {
    const int64_t bytes = program.WorkspaceBytes(buffers_.blocks().blank().data());
    if (const absl::Status made = buffers_.AllocateWorkspace(bytes); !made.ok()) {
      SetError(reply, CodeOf(made), 0, MessageOf(made));
      return;
    }
    reply->mutable_mapped()->set_workspace_bytes(bytes);
  }
  SetUpIfComplete(buffers_.blocks(), program, reply);
}

bool CudaExecution::RunBatch(const v1::BatchRequest& request, Program& program,
                             v1::RunnerReply* reply) {
  for (const int set : request.set_order()) {
    if (!program.loaded() || set < 0 || set >= buffers_.blocks().sets()) {
      SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, 0, "batch before LOAD and MAP");
      return true;
    }
  }
  if (request.graph() < 0 || request.graph() >= kChains ||
      static_cast<size_t>(request.set_order_size()) > kMaxCalls) {
    SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, 0, "no such chain");
    return true;
  }
  const Failure failure = Run(request, program, reply->mutable_done());
  // A CPU runner answers the same way to a batch that names no mode.
  if (request.mode() == v1::BatchRequest::MODE_UNSPECIFIED) reply->mutable_done()->clear_host_ns();
  return !failure.failed || Report(failure, reply);
}

CudaExecution::Failure CudaExecution::Run(const v1::BatchRequest& request, Program& program,
                                          v1::RunnerReply::Done* done) {
  const std::vector<int> order(request.set_order().begin(), request.set_order().end());
  // Undoes what the candidate may have done in the last batch.
  if (!led_in_) api().cuCtxResetPersistingL2Cache();
  led_in_ = order.empty();
  copies_ = request.copies();
  if (order.empty()) return RunNothing();
  if (instrumented_) return RunInstrumented(order, program, done);
  switch (request.mode()) {
    case v1::BatchRequest::EVENTS:
      return RunAlone(order, Hold::kUntilQueued, program, done);
    case v1::BatchRequest::FREE: {
      const Failure failure = RunAlone(order, Hold::kUntilQueued, program, done);
      uint64_t sum = 0;
      for (const uint64_t ns : done->inner_ns()) sum += ns;
      done->clear_inner_ns();
      done->add_inner_ns(sum);
      done->clear_queued();
      return failure;
    }
    case v1::BatchRequest::CAPTURE:
      return Capture(order, program, done);
    case v1::BatchRequest::CHAIN:
      return MakeChain(order, request.graph(), done);
    case v1::BatchRequest::REPLAY:
      return Replay(order, request.graph(), done);
    case v1::BatchRequest::PREPARED:
      return RunPrepared(order, request.preparation(), program, done);
    default:
      return RunAlone(order, Hold::kNo, program, done);
  }
}

uint64_t* CudaExecution::ArgumentsOf(int set) {
  // A copy: a candidate may write to its arguments.
  arguments_ = buffers_.blocks().block(set);
  called_since_map_ = true;
  return arguments_.data();
}

CudaExecution::Failure CudaExecution::Call(int set, Program& program, v1::RunnerReply::Done* done) {
  uint64_t* const arguments = ArgumentsOf(set);
  const uint64_t start = MonotonicNanos();
  const int returned = copies_ ? program.CopyResults(set, stream_.get())
                               : program.Call(set, arguments, stream_.get());
  done->add_host_ns(MonotonicNanos() - start);
  if (returned == 0) return {};
  return {true, true, returned, "the call", program.Raised()};
}

CudaExecution::Failure CudaExecution::CallInstrumented(int set, Program& program,
                                                       v1::RunnerReply::Done* done) {
  Failure failure = Check(buffers_.CopyIn(set), "copying inputs");
  // Setup in the first call does not belong in a profile.
  if (called_) api().cuProfilerStart();
  called_ = true;
  if (!failure.failed) failure = Call(set, program, done);
  if (!failure.failed) failure = Synchronize();
  api().cuProfilerStop();
  return failure.failed ? failure : Check(buffers_.CopyOut(set), "copying outputs");
}

CudaExecution::Failure CudaExecution::RunInstrumented(const std::vector<int>& order,
                                                      Program& program,
                                                      v1::RunnerReply::Done* done) {
  for (const int set : order) {
    const uint64_t start = MonotonicNanos();
    Failure failure = CallInstrumented(set, program, done);
    done->add_inner_ns(MonotonicNanos() - start);
    if (failure.failed) return failure;
  }
  return {};
}

CudaExecution::Failure CudaExecution::RunNothing() {
  if (instrumented_) return Synchronize();
  Failure failure = Check(separators_.Hold(stream_.get(), kUnusedStamp), "an empty call");
  if (!failure.failed) failure = Check(separators_.LaunchNothing(stream_.get()), "an empty call");
  if (!failure.failed) {
    failure = Check(separators_.Launch(stream_.get(), kUnusedStamp), "an empty call");
  }
  separators_.Release();
  const Failure waited = Synchronize();
  return failure.failed ? failure : waited;
}

CudaExecution::Failure CudaExecution::RunAlone(const std::vector<int>& order, Hold hold,
                                               Program& program, v1::RunnerReply::Done* done) {
  bool queued = hold == Hold::kUntilQueued;
  separators_.RenewSeals(2 * static_cast<int>(order.size()));
  int stamp = 0;
  for (const int set : order) {
    const bool loads = program.LoadsInFirstCall() && !called_since_map_;
    const bool held = hold == Hold::kUntilQueued && hold_useful_ && !loads;
    Failure failure = Check(
        held ? separators_.Hold(stream_.get(), stamp) : separators_.Launch(stream_.get(), stamp),
        "a separator");
    if (!failure.failed) failure = Call(set, program, done);
    if (!failure.failed) failure = Check(separators_.Launch(stream_.get(), stamp + 1), "a call");
    if (held) hold_useful_ = separators_.Release();
    queued = queued && held && hold_useful_;
    if (!failure.failed) failure = Synchronize();
    if (failure.failed) return failure;
    stamp += 2;
  }
  std::vector<uint64_t> stamps;
  const Failure failure = Read(separators_.ReadStamps(stamp, &stamps), stamps);
  for (size_t i = 0; i < stamps.size(); i += 2) done->add_inner_ns(stamps[i + 1] - stamps[i]);
  done->set_queued(queued);
  return failure;
}

CudaExecution::Failure CudaExecution::PrepareCall(const v1::BatchRequest::Preparation& preparation,
                                                  int set) {
  if (flushed_bytes_ > 0) {
    Failure failure = Check(
        api().cuMemsetD8Async(flushed_.get(), 0, static_cast<size_t>(flushed_bytes_), kSuiteStream),
        "writing other memory before a call");
    if (failure.failed) return failure;
  }
  if (preparation.has_copied_set() && preparation.copied_set() != set) {
    const std::vector<ArgumentBlocks::Input>& from =
        buffers_.blocks().inputs(preparation.copied_set());
    const std::vector<ArgumentBlocks::Input>& to = buffers_.blocks().inputs(set);
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
      const auto bytes = static_cast<size_t>(std::min(from[i].bytes, to[i].bytes));
      const Failure failure =
          Check(api().cuMemcpyDtoDAsync(to[i].address, from[i].address, bytes, kSuiteStream),
                "copying inputs before a call");
      if (failure.failed) return failure;
    }
  }
  return preparation.waits() ? Synchronize() : Failure();
}

CudaExecution::Failure CudaExecution::CallBetweenEvents(int set, bool repeated, Program& program) {
  Failure recorded;
  const int returned =
      program.TimedCall(set, ArgumentsOf(set), kSuiteStream, repeated, [&](bool ends) {
        const CUevent event = ends ? end_.get() : begin_.get();
        Failure failure = Check(api().cuEventRecord(event, kSuiteStream), "an event");
        if (!recorded.failed) recorded = std::move(failure);
      });
  if (returned != 0) return {true, true, returned, "the call", program.Raised()};
  return recorded;
}

CudaExecution::Failure CudaExecution::RunPrepared(const std::vector<int>& order,
                                                  const v1::BatchRequest::Preparation& preparation,
                                                  Program& program, v1::RunnerReply::Done* done) {
  if (preparation.has_copied_set() &&
      (preparation.copied_set() < 0 || preparation.copied_set() >= buffers_.blocks().sets())) {
    return {true, false, CUDA_ERROR_INVALID_VALUE, "no such set to copy from"};
  }
  const int64_t wanted = std::clamp<int64_t>(preparation.flush_bytes(), 0, kMostFlushBytes);
  if (wanted != flushed_bytes_) {
    flushed_.Reset();
    flushed_bytes_ = 0;
    CUdeviceptr memory = 0;
    if (wanted > 0) {
      const Failure failure =
          Check(api().cuMemAlloc(&memory, static_cast<size_t>(wanted)), "allocating other memory");
      if (failure.failed) return failure;
      flushed_ = CudaBlock(api(), memory);
      flushed_bytes_ = wanted;
    }
  }
  for (CudaEvent* event : {&begin_, &end_}) {
    if (event->ok()) continue;
    CUevent made = nullptr;
    const Failure failure = Check(api().cuEventCreate(&made, CU_EVENT_DEFAULT), "making an event");
    if (failure.failed) return failure;
    *event = CudaEvent(api(), made);
  }
  // Returned outputs are not copied while a suite's clock runs.
  copies_ = program.ReturnsOutputs();
  int last = -1;
  for (const int set : order) {
    Failure failure = Synchronize();
    if (!failure.failed) failure = PrepareCall(preparation, set);
    if (!failure.failed) failure = CallBetweenEvents(set, set == last, program);
    last = set;
    if (!failure.failed) failure = Synchronize();
    float milliseconds = 0;
    if (!failure.failed) {
      failure = Check(api().cuEventElapsedTime(&milliseconds, begin_.get(), end_.get()),
                      "reading events");
    }
    if (!failure.failed && copies_) failure = Call(set, program, done);
    if (failure.failed) return failure;
    done->add_inner_ns(
        static_cast<uint64_t>(std::max(0.0, static_cast<double>(milliseconds) * 1e6)));
  }
  done->clear_host_ns();
  return Synchronize();
}

// An error while recording is the reason why recording is impossible, not a failure: calls that
// cannot be recorded may still be right.
CudaExecution::Failure CudaExecution::Capture(const std::vector<int>& order, Program& program,
                                              v1::RunnerReply::Done* done) {
  std::string reason;
  for (const int set : order) {
    reason = CaptureOne(set, program, done);
    if (!reason.empty()) break;
  }
  done->clear_host_ns();
  done->set_not_captured(reason);
  return Synchronize();
}

std::string CudaExecution::CaptureOne(int set, Program& program, v1::RunnerReply::Done* done) {
  CudaGraph& kept = recorded_[static_cast<size_t>(set)];
  kept.Reset();
  CUresult result = api().cuStreamBeginCapture(stream_.get(), CU_STREAM_CAPTURE_MODE_GLOBAL);
  if (result != CUDA_SUCCESS) return CudaErrorText(api(), result);
  const Failure failure = Call(set, program, done);
  CUgraph raw = nullptr;
  result = api().cuStreamEndCapture(stream_.get(), &raw);
  const CudaGraph recorded = raw == nullptr ? CudaGraph() : CudaGraph(api(), raw);
  if (!failure.raised.empty()) return failure.raised;
  if (failure.failed) return "ksearch_run returned " + std::to_string(failure.value);
  if (result != CUDA_SUCCESS) return CudaErrorText(api(), result);
  // The candidate may have kept the handle of the recording, so a copy is checked and used for the
  // chain.
  CUgraph copy = nullptr;
  result = api().cuGraphClone(&copy, raw);
  if (result != CUDA_SUCCESS) return CudaErrorText(api(), result);
  kept = CudaGraph(api(), copy);
  std::string reason = WhyNoLink(api(), copy);
  if (!reason.empty()) kept.Reset();
  return reason;
}

CudaExecution::Failure CudaExecution::MakeChain(const std::vector<int>& order, int chain,
                                                v1::RunnerReply::Done* done) {
  Chain& made = chains_[static_cast<size_t>(chain)];
  made = Chain();
  std::vector<CUgraph> calls;
  for (const int set : order) {
    const CudaGraph& recorded = recorded_[static_cast<size_t>(set)];
    if (!recorded.ok()) {
      done->set_not_captured("no call is recorded for buffer set " + std::to_string(set));
      return {};
    }
    calls.push_back(recorded.get());
  }
  CUresult result = MakeCallChain(api(), separators_, calls, &made.calls);
  if (result == CUDA_SUCCESS) result = api().cuGraphUpload(made.calls.exec.get(), stream_.get());
  if (result != CUDA_SUCCESS) {
    made = Chain();
    done->set_not_captured(CudaErrorText(api(), result));
  } else {
    made.set_order = order;
  }
  return Synchronize();
}

CudaExecution::Failure CudaExecution::Replay(const std::vector<int>& order, int chain,
                                             v1::RunnerReply::Done* done) {
  const Chain& made = chains_[static_cast<size_t>(chain)];
  if (!made.calls.exec.ok() || made.set_order != order) {
    return {true, false, CUDA_ERROR_INVALID_HANDLE, "replay of a chain that was not made"};
  }
  Failure failure = Check(separators_.Hold(stream_.get(), kUnusedStamp), "a separator");
  if (!failure.failed) {
    failure = Check(api().cuGraphLaunch(made.calls.exec.get(), stream_.get()), "a chain of calls");
  }
  separators_.Release();
  if (!failure.failed) failure = Synchronize();
  if (failure.failed) return failure;
  std::vector<uint64_t> stamps;
  failure = Read(separators_.ReadStamps(made.calls.seals, &stamps), stamps);
  for (size_t i = 0; i < order.size(); ++i) done->add_call_ns(stamps[i + 1] - stamps[i]);
  done->add_inner_ns(stamps.back() - stamps.front());
  return failure;
}

// Waits for the whole context: work on the candidate's own streams is part of its calls.
CudaExecution::Failure CudaExecution::Synchronize() {
  return Check(api().cuCtxSynchronize(), "waiting for the calls");
}

CudaExecution::Failure CudaExecution::Check(CUresult result, const char* doing) const {
  if (result == CUDA_SUCCESS) return {};
  return {true, false, static_cast<int>(result), doing};
}

CudaExecution::Failure CudaExecution::Read(CUresult result,
                                           const std::vector<uint64_t>& stamps) const {
  Failure failure = Check(result, "reading the calls' times");
  if (!failure.failed && !AreTimes(stamps)) {
    failure = {true, false, CUDA_ERROR_INVALID_VALUE, "the calls' times were overwritten"};
  }
  return failure;
}

bool CudaExecution::Report(Failure failure, v1::RunnerReply* reply) {
  // The number that the entry returned may stand for an error on the device, which tells
  // more.
  const CUresult now = api().cuCtxSynchronize();
  if (IsSticky(now)) failure = {true, false, static_cast<int>(now), failure.doing};
  if (!failure.raised.empty()) {
    SetError(reply, v1::RunnerReply::RunnerError::RAISED, failure.value, failure.raised);
    return true;
  }
  if (failure.returned) {
    const char* name = nullptr;
    const bool known =
        failure.value > 0 &&
        api().cuGetErrorName(static_cast<CUresult>(failure.value), &name) == CUDA_SUCCESS;
    SetError(reply, v1::RunnerReply::RunnerError::CALL_RETURNED_NONZERO, failure.value,
             known ? CudaErrorText(api(), static_cast<CUresult>(failure.value)) : "");
    return true;
  }
  const auto result = static_cast<CUresult>(failure.value);
  SetError(reply, v1::RunnerReply::RunnerError::CUDA_ERROR, failure.value,
           failure.doing + ": " + CudaErrorText(api(), result));
  return !IsSticky(result);
}

}  // namespace ksearch
