// ksearch-runner: loads one candidate and calls it on the verifier's buffers, as told over the
// SOCK_SEQPACKET socket on descriptor 3. Everything after LOAD is in the candidate's hands: the
// verifier believes nothing it says but "done".
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "gpu_worker/runner/control_channel.h"
#include "gpu_worker/runner/loaded_kernel.h"
#include "gpu_worker/runner/mapped_buffers.h"
#ifdef KSEARCH_TIGHT_FILTER
#include "gpu_worker/sandbox/seccomp_filter.h"
#endif

namespace ksearch {
namespace {

constexpr int kControlFd = 3;
constexpr int kDialogueVersion = 1;
constexpr size_t kMaxErrorBytes = 2048;

uint64_t MonotonicNanos() {
  struct timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void SetError(v1::RunnerReply* reply, v1::RunnerReply::RunnerError::Code code, int value,
              const std::string& text) {
  v1::RunnerReply::RunnerError* error = reply->mutable_error();
  error->set_code(code);
  error->set_value(value);
  // The loader repeats names that the candidate chose; a message that is no UTF-8 would be taken
  // for a forged one.
  std::string clean = text.substr(0, kMaxErrorBytes);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  error->set_text(clean);
}

void Load(const v1::LoadRequest& request, const std::vector<UniqueFd>& fds, LoadedKernel* kernel,
          v1::RunnerReply* reply) {
  std::string error = "LOAD needs one descriptor and comes once";
  if (fds.size() != 1 || kernel->loaded() ||
      !kernel->Load(fds[0].get(), request.entry_symbol(), request.workspace_symbol(), &error)) {
    SetError(reply, v1::RunnerReply::RunnerError::LOAD_FAILED, 0, error);
    return;
  }
  reply->mutable_loaded()->set_has_workspace_symbol(kernel->has_workspace_symbol());
}

void Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds,
         const LoadedKernel& kernel, MappedBuffers* buffers, v1::RunnerReply* reply) {
  int error_number = 0;
  std::string error;
  if (!buffers->Map(request, fds, &error_number, &error)) {
    SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, error_number, error);
    return;
  }
  reply->mutable_mapped();
  if (request.append() || !kernel.has_workspace_symbol()) return;
  const int64_t bytes = kernel.WorkspaceBytes(buffers->BlankBlock().data());
  if (!buffers->AllocateWorkspace(bytes, &error_number, &error)) {
    SetError(reply, v1::RunnerReply::RunnerError::OUT_OF_MEMORY, error_number, error);
    return;
  }
  reply->mutable_mapped()->set_workspace_bytes(bytes);
}

// An empty GO is allowed at any time; before LOAD it tells the verifier what a round trip costs.
void Go(const v1::GoRequest& request, const LoadedKernel& kernel, const MappedBuffers& buffers,
        v1::RunnerReply* reply) {
  v1::RunnerReply::Done* done = reply->mutable_done();
  done->mutable_inner_ns()->Reserve(request.set_order_size());
  std::vector<uint64_t> arguments;
  for (const int set : request.set_order()) {
    if (!kernel.loaded() || set < 0 || set >= buffers.sets()) {
      SetError(reply, v1::RunnerReply::RunnerError::MAP_FAILED, 0, "GO before LOAD and MAP");
      return;
    }
    arguments = buffers.block(set);
    const uint64_t start = MonotonicNanos();
    const int returned = kernel.Run(arguments.data());
    const uint64_t end = MonotonicNanos();
    if (returned != 0) {
      SetError(reply, v1::RunnerReply::RunnerError::CALL_RETURNED_NONZERO, returned, "");
      return;
    }
    done->add_inner_ns(end - start);
  }
}

int RunnerMain() {
  ::prctl(PR_SET_DUMPABLE, 0);
  // One thread now, so that whatever the C library sets up for threads is there before the filter.
  std::thread([] {}).join();

  ControlChannel channel(kControlFd);
  v1::RunnerReply hello;
  hello.mutable_hello()->set_version(kDialogueVersion);
  hello.mutable_hello()->set_pid(::getpid());
#ifdef KSEARCH_TIGHT_FILTER
  if (const absl::Status tight = InstallTightFilter(); !tight.ok()) {
    SetError(&hello, v1::RunnerReply::RunnerError::SECCOMP_FAILED, 0,
             std::string(tight.message().data(), tight.message().size()));
  } else {
    hello.mutable_hello()->set_tight_seccomp(true);
  }
#endif
  if (!channel.Send(hello)) return 1;

  LoadedKernel kernel;
  MappedBuffers buffers;
  v1::RunnerRequest request;
  std::vector<UniqueFd> fds;
  while (channel.Receive(&request, &fds)) {
    v1::RunnerReply reply;
    reply.set_nonce(request.nonce());
    reply.set_step(request.step());
    switch (request.body_case()) {
      case v1::RunnerRequest::kLoad:
        Load(request.load(), fds, &kernel, &reply);
        break;
      case v1::RunnerRequest::kMap:
        Map(request.map(), fds, kernel, &buffers, &reply);
        break;
      case v1::RunnerRequest::kGo:
        Go(request.go(), kernel, buffers, &reply);
        break;
      case v1::RunnerRequest::kExit:
      case v1::RunnerRequest::BODY_NOT_SET:
        // Without destructors: the candidate gets no more turns.
        ::_exit(0);
    }
    if (!channel.Send(reply)) break;
  }
  ::_exit(0);
}

}  // namespace
}  // namespace ksearch

#ifdef KSEARCH_SANITIZED
// A candidate's signals must end this process as they would without a sanitizer.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:"
         "detect_leaks=0:allow_user_segv_handler=1";
}
#endif

int main() { return ksearch::RunnerMain(); }
