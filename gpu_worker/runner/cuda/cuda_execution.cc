#include "gpu_worker/runner/cuda/cuda_execution.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "common/status_macros.h"
#include "gpu_worker/cuda/cuda_error.h"

namespace ksearch {
namespace {

// Calls behind one gate: a stream holds about a thousand launches before the host must wait.
constexpr size_t kGroup = 16;

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
  ASSIGN_OR_RETURN(Gate gate, Gate::Create(*device));
  auto execution = std::unique_ptr<CudaExecution>(
      new CudaExecution(std::move(device), std::move(gate), std::move(stream), instrumented));
  for (size_t i = 0; i < 2 * kGroup; ++i) {
    ASSIGN_OR_RETURN(CudaEvent event, MakeCudaEvent(api));
    execution->events_.push_back(std::move(event));
  }
  // Data must not survive in the cache from call to call by a reserved part of it. Not every device
  // knows the limit.
  api.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  RETURN_IF_ERROR(execution->gate_.LaunchNothing(raw));
  RETURN_IF_CUDA_ERROR(api, api.cuCtxSynchronize(), "run the first kernel");
  return execution;
}

void CudaExecution::Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds,
                        const LoadedKernel& kernel, v1::RunnerReply* reply) {
  if (!request.append()) {
    for (Graph& graph : graphs_) graph = Graph();
    gate_useful_ = true;
  }
  if (const absl::Status mapped = buffers_.Map(request, fds); !mapped.ok()) {
    SetError(reply, CodeOf(mapped), 0, MessageOf(mapped));
    return;
  }
  reply->mutable_mapped();
  if (request.append() || !kernel.has_workspace_symbol()) return;
  const int64_t bytes = kernel.WorkspaceBytes(buffers_.blocks().blank().data());
  if (const absl::Status made = buffers_.AllocateWorkspace(bytes); !made.ok()) {
    SetError(reply, CodeOf(made), 0, MessageOf(made));
    return;
  }
  reply->mutable_mapped()->set_workspace_bytes(bytes);
}

bool CudaExecution::Go(const v1::GoRequest& request, const LoadedKernel& kernel,
                       v1::RunnerReply* reply) {
  for (const int set : request.set_order()) {
    if (!kernel.loaded() || set < 0 || set >= buffers_.blocks().sets()) {
      SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, 0, "GO before LOAD and MAP");
      return true;
    }
  }
  if (request.graph() < 0 || request.graph() >= kGraphs) {
    SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, 0, "no such graph");
    return true;
  }
  const Failure failure = Run(request, kernel, reply->mutable_done());
  // As a CPU runner answers to a GO that names no mode.
  if (request.mode() == v1::GoRequest::MODE_UNSPECIFIED) reply->mutable_done()->clear_host_ns();
  return !failure.failed || Report(failure, reply);
}

CudaExecution::Failure CudaExecution::Run(const v1::GoRequest& request, const LoadedKernel& kernel,
                                          v1::RunnerReply::Done* done) {
  const std::vector<int> order(request.set_order().begin(), request.set_order().end());
  // Whatever the candidate did to it in the last GO.
  if (!led_in_) api().cuCtxResetPersistingL2Cache();
  led_in_ = order.empty();
  if (order.empty()) {
    // One that has loaded nothing yet gives the cost of a launch and a wait.
    if (!gate_.LaunchNothing(stream_.get()).ok()) return Synchronize();
    return Synchronize();
  }
  switch (request.mode()) {
    case v1::GoRequest::EVENTS:
      return RunEvents(order, kernel, done);
    case v1::GoRequest::FREE:
      return RunFree(order, kernel, done);
    case v1::GoRequest::CAPTURE:
      return Capture(order, request.graph(), kernel, done);
    case v1::GoRequest::REPLAY:
      return Replay(order, request.graph(), done);
    default:
      return RunSynced(order, kernel, done);
  }
}

CudaExecution::Failure CudaExecution::Call(int set, const LoadedKernel& kernel,
                                           v1::RunnerReply::Done* done) {
  // A copy: a candidate may write to its arguments.
  arguments_ = buffers_.blocks().block(set);
  const uint64_t start = MonotonicNanos();
  const int returned = kernel.RunOnStream(arguments_.data(), stream_.get());
  done->add_host_ns(MonotonicNanos() - start);
  if (returned == 0) return {};
  return {true, true, returned, "the call"};
}

CudaExecution::Failure CudaExecution::CallInstrumented(int set, const LoadedKernel& kernel,
                                                       v1::RunnerReply::Done* done) {
  Failure failure = Check(buffers_.CopyIn(set), "copying inputs");
  // What a first call sets up is no part of a profile.
  if (called_) api().cuProfilerStart();
  called_ = true;
  if (!failure.failed) failure = Call(set, kernel, done);
  if (!failure.failed) failure = Synchronize();
  api().cuProfilerStop();
  return failure.failed ? failure : Check(buffers_.CopyOut(set), "copying outputs");
}

CudaExecution::Failure CudaExecution::RunSynced(const std::vector<int>& order,
                                                const LoadedKernel& kernel,
                                                v1::RunnerReply::Done* done) {
  for (const int set : order) {
    Failure failure = Check(api().cuEventRecord(events_[0].get(), stream_.get()), "a call");
    if (!failure.failed) {
      failure = instrumented_ ? CallInstrumented(set, kernel, done) : Call(set, kernel, done);
    }
    if (!failure.failed) {
      failure = Check(api().cuEventRecord(events_[1].get(), stream_.get()), "a call");
    }
    if (!failure.failed) failure = Synchronize();
    if (!failure.failed) failure = ReadEventPair(0, done);
    if (failure.failed) return failure;
  }
  return {};
}

CudaExecution::Failure CudaExecution::RunEvents(const std::vector<int>& order,
                                                const LoadedKernel& kernel,
                                                v1::RunnerReply::Done* done) {
  bool queued = true;
  for (size_t first = 0; first < order.size(); first += kGroup) {
    const size_t calls = std::min(kGroup, order.size() - first);
    const bool gated = gate_useful_ && gate_.Close(stream_.get()).ok();
    Failure failure;
    for (size_t i = 0; i < calls && !failure.failed; ++i) {
      failure = Check(api().cuEventRecord(events_[2 * i].get(), stream_.get()), "a call");
      if (!failure.failed) failure = Call(order[first + i], kernel, done);
      if (!failure.failed) {
        failure = Check(api().cuEventRecord(events_[2 * i + 1].get(), stream_.get()), "a call");
      }
    }
    if (gated) gate_useful_ = gate_.Open();
    queued = queued && gated && gate_useful_;
    if (!failure.failed) failure = Synchronize();
    for (size_t i = 0; i < calls && !failure.failed; ++i) failure = ReadEventPair(2 * i, done);
    if (failure.failed) return failure;
  }
  done->set_queued(queued);
  return {};
}

CudaExecution::Failure CudaExecution::RunFree(const std::vector<int>& order,
                                              const LoadedKernel& kernel,
                                              v1::RunnerReply::Done* done) {
  Failure failure = Check(api().cuEventRecord(events_[0].get(), stream_.get()), "calls");
  for (const int set : order) {
    if (!failure.failed) failure = Call(set, kernel, done);
  }
  if (!failure.failed) {
    failure = Check(api().cuEventRecord(events_[1].get(), stream_.get()), "calls");
  }
  if (!failure.failed) failure = Synchronize();
  return failure.failed ? failure : ReadEventPair(0, done);
}

// Whatever goes wrong while recording is the reason why it cannot be done, and no failure: calls
// that may not be recorded may still be right.
CudaExecution::Failure CudaExecution::Capture(const std::vector<int>& order, int graph,
                                              const LoadedKernel& kernel,
                                              v1::RunnerReply::Done* done) {
  graphs_[static_cast<size_t>(graph)] = Graph();
  CUresult result = api().cuStreamBeginCapture(stream_.get(), CU_STREAM_CAPTURE_MODE_GLOBAL);
  std::string reason;
  for (const int set : order) {
    if (result != CUDA_SUCCESS || !reason.empty()) break;
    const Failure failure = Call(set, kernel, done);
    if (failure.failed) reason = "ksearch_run returned " + std::to_string(failure.value);
  }
  CUgraph recorded = nullptr;
  const CUresult ended = api().cuStreamEndCapture(stream_.get(), &recorded);
  const CudaGraph owned =
      recorded == nullptr ? CudaGraph() : CudaGraph(api(), std::exchange(recorded, nullptr));
  if (result == CUDA_SUCCESS) result = ended;
  CUgraphExec exec = nullptr;
  if (result == CUDA_SUCCESS && reason.empty()) {
    size_t nodes = 0;
    result = api().cuGraphGetNodes(owned.get(), nullptr, &nodes);
    if (result == CUDA_SUCCESS && nodes < order.size()) {
      reason = "calls that put nothing on their stream";
    }
  }
  if (result == CUDA_SUCCESS && reason.empty()) {
    result = api().cuGraphInstantiate(&exec, owned.get(), 0);
  }
  if (result == CUDA_SUCCESS && exec != nullptr) {
    graphs_[static_cast<size_t>(graph)] = {order, CudaGraphExec(api(), exec)};
    result = api().cuGraphUpload(exec, stream_.get());
  }
  if (result != CUDA_SUCCESS && reason.empty()) reason = CudaErrorText(api(), result);
  done->clear_host_ns();
  done->set_not_captured(reason);
  return Synchronize();
}

CudaExecution::Failure CudaExecution::Replay(const std::vector<int>& order, int graph,
                                             v1::RunnerReply::Done* done) {
  const Graph& recorded = graphs_[static_cast<size_t>(graph)];
  if (!recorded.exec.ok() || recorded.set_order != order) {
    return {true, false, CUDA_ERROR_INVALID_HANDLE, "replay of a graph that was not recorded"};
  }
  const bool gated = gate_.Close(stream_.get()).ok();
  Failure failure = Check(api().cuEventRecord(events_[0].get(), stream_.get()), "a graph");
  if (!failure.failed) {
    failure = Check(api().cuGraphLaunch(recorded.exec.get(), stream_.get()), "a graph");
  }
  if (!failure.failed) {
    failure = Check(api().cuEventRecord(events_[1].get(), stream_.get()), "a graph");
  }
  if (gated) gate_.Open();
  if (!failure.failed) failure = Synchronize();
  return failure.failed ? failure : ReadEventPair(0, done);
}

// Of the whole context: work on streams of the candidate's own is part of its calls.
CudaExecution::Failure CudaExecution::Synchronize() {
  return Check(api().cuCtxSynchronize(), "waiting for the calls");
}

CudaExecution::Failure CudaExecution::ReadEventPair(size_t first, v1::RunnerReply::Done* done) {
  float millis = 0;
  const CUresult result =
      api().cuEventElapsedTime(&millis, events_[first].get(), events_[first + 1].get());
  if (result != CUDA_SUCCESS) return Check(result, "reading the calls' times");
  done->add_inner_ns(static_cast<uint64_t>(std::llround(std::max(0.0, millis * 1e6))));
  return {};
}

CudaExecution::Failure CudaExecution::Check(CUresult result, const char* doing) const {
  if (result == CUDA_SUCCESS) return {};
  return {true, false, static_cast<int>(result), doing};
}

bool CudaExecution::Report(Failure failure, v1::RunnerReply* reply) {
  // A number that the entry returned may stand for something that happened on the device, which
  // tells more.
  const CUresult now = api().cuCtxSynchronize();
  if (IsSticky(now)) failure = {true, false, static_cast<int>(now), failure.doing};
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
