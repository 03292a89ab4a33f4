#include "gpu_worker/runner/host_execution.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

#include "common/call_turns.h"

namespace ksearch {
namespace {

constexpr size_t kMaxErrorBytes = 2048;

uint64_t MonotonicNanos() {
  struct timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Waits until the call that comes after `made` calls may begin. Keeps its core for that at first.
void AwaitTurn(const CallTurns& turns, uint32_t made) {
  constexpr int kReadsBeforeYield = 1 << 17;  // some 100 us
  for (int reads = 1; turns.released.load(std::memory_order_acquire) <= made; ++reads) {
    if (reads > kReadsBeforeYield) std::this_thread::yield();
  }
}

}  // namespace

void SetError(v1::RunnerReply* reply, v1::RunnerReply::RunnerError::Code code, int value,
              const std::string& text) {
  v1::RunnerReply::RunnerError* error = reply->mutable_error();
  error->set_code(code);
  error->set_value(value);
  // The loader repeats names that the candidate chose; a message that is not UTF-8 would count as
  // forged.
  std::string clean = text.substr(0, kMaxErrorBytes);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  error->set_text(clean);
}

void SetUpIfComplete(const ArgumentBlocks& arguments, Program& program, v1::RunnerReply* reply) {
  if (!program.loaded() || !arguments.Complete()) return;
  if (program.Setup(arguments)) {
    reply->mutable_mapped()->set_returns_outputs(program.ReturnsOutputs());
    return;
  }
  SetError(reply, v1::RunnerReply::RunnerError::RAISED, 0, program.Raised());
}

void HostExecution::Map(const v1::MapRequest& request, std::vector<UniqueFd> fds, Program& program,
                        v1::RunnerReply* reply) {
  int error_number = 0;
  std::string error;
  if (!buffers_.Map(request, fds, &error_number, &error)) {
    SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, error_number, error);
    return;
  }
  fds.clear();
  reply->mutable_mapped();
  if (!request.append()) {
    const int64_t bytes = program.WorkspaceBytes(buffers_.blocks().blank().data());
    if (!buffers_.AllocateWorkspace(bytes, &error_number, &error)) {
      SetError(reply, v1::RunnerReply::RunnerError::OUT_OF_MEMORY, error_number, error);
      return;
    }
    reply->mutable_mapped()->set_workspace_bytes(bytes);
  }
  SetUpIfComplete(buffers_.blocks(), program, reply);
}

// Prepares a call that is timed by a suite's rules: writes other memory, so that caches hold
// nothing of the previous call, and copies inputs to where the call finds them.
void HostExecution::PrepareCall(const v1::BatchRequest::Preparation& preparation, int set) {
  const int64_t bytes = std::min(preparation.flush_bytes(), kMostFlushBytes);
  if (bytes > 0) {
    flushed_.resize(static_cast<size_t>(bytes));
    std::memset(flushed_.data(), ++flushes_, flushed_.size());
  }
  if (!preparation.has_copied_set() || preparation.copied_set() == set) return;
  const std::vector<ArgumentBlocks::Input>& from =
      buffers_.blocks().inputs(preparation.copied_set());
  const std::vector<ArgumentBlocks::Input>& to = buffers_.blocks().inputs(set);
  for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
    std::memcpy(reinterpret_cast<void*>(to[i].address),
                reinterpret_cast<const void*>(from[i].address),
                static_cast<size_t>(std::min(from[i].bytes, to[i].bytes)));
  }
}

// An empty batch is allowed at any time; before LOAD it tells the verifier what a round trip costs.
bool HostExecution::RunBatch(const v1::BatchRequest& request, Program& program,
                             v1::RunnerReply* reply) {
  v1::RunnerReply::Done* done = reply->mutable_done();
  done->mutable_inner_ns()->Reserve(request.set_order_size());
  std::vector<uint64_t> arguments;
  const bool prepared = request.mode() == v1::BatchRequest::PREPARED;
  // Returned outputs are not copied while a suite's clock runs.
  const bool keeps = prepared && program.ReturnsOutputs();
  if (prepared && request.preparation().has_copied_set() &&
      (request.preparation().copied_set() < 0 ||
       request.preparation().copied_set() >= buffers_.blocks().sets())) {
    SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, 0, "no such set to copy from");
    return true;
  }
  CallTurns* const turns = request.in_turn() ? buffers_.turns() : nullptr;
  if (request.in_turn() && turns == nullptr) {
    SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, 0, "no page to release calls with");
    return true;
  }
  uint32_t made = 0;
  int last_prepared = -1;
  for (const int set : request.set_order()) {
    if (!program.loaded() || set < 0 || set >= buffers_.blocks().sets()) {
      SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, 0, "batch before LOAD and MAP");
      return true;
    }
    arguments = buffers_.blocks().block(set);
    if (prepared) PrepareCall(request.preparation(), set);
    if (turns != nullptr) AwaitTurn(*turns, made);
    uint64_t start = MonotonicNanos();
    uint64_t end = 0;
    int returned = 0;
    if (prepared) {
      returned = program.TimedCall(set, arguments.data(), nullptr, set == last_prepared,
                                   [&](bool ends) { (ends ? end : start) = MonotonicNanos(); });
      last_prepared = set;
    } else {
      returned = request.copies() ? program.CopyResults(set, nullptr)
                                  : program.Call(set, arguments.data(), nullptr);
      end = MonotonicNanos();
    }
    // Not just a release: on x86 only a locked instruction or a fence completes stores that bypass
    // the caches (non-temporal), after which an honest program may have none of its own.
    if (turns != nullptr) turns->returned.exchange(++made, std::memory_order_seq_cst);
    if (keeps && returned == 0) returned = program.CopyResults(set, nullptr);
    if (returned != 0) {
      const std::string raised = program.Raised();
      SetError(reply,
               raised.empty() ? v1::RunnerReply::RunnerError::CALL_RETURNED_NONZERO
                              : v1::RunnerReply::RunnerError::RAISED,
               returned, raised);
      return true;
    }
    done->add_inner_ns(end - start);
  }
  return true;
}

}  // namespace ksearch
