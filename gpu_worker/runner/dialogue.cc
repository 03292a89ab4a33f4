#include "gpu_worker/runner/dialogue.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "gpu_worker/runner/control_channel.h"
#include "gpu_worker/runner/execution.h"
#include "gpu_worker/runner/host_execution.h"
#ifdef KSEARCH_CUDA
#include "gpu_worker/runner/cuda/cuda_execution.h"
#endif
#ifdef KSEARCH_TIGHT_FILTER
#include "gpu_worker/sandbox/seccomp_filter.h"
#endif

namespace ksearch {
namespace {

constexpr int kControlFd = 3;
constexpr int kDialogueVersion = 1;
constexpr char kGpuFlag[] = "--gpu=";
constexpr char kGpuFilterFlag[] = "--gpu-filter=";
constexpr char kInstrumentedFlag[] = "--instrumented";
constexpr char kWarmFlag[] = "--warm";

// Null with a reason if the device is not available.
std::unique_ptr<Execution> MakeExecution(const RunnerFlags& flags, std::string* error) {
  if (flags.gpu.empty()) return std::make_unique<HostExecution>();
#ifdef KSEARCH_CUDA
  auto execution = CudaExecution::Open(flags.gpu, flags.instrumented);
  if (execution.ok()) return *std::move(execution);
  *error = std::string(execution.status().message().data(), execution.status().message().size());
#else
  *error = "this ksearch-runner was built without CUDA; build it where a CUDA toolkit is installed";
#endif
  return nullptr;
}

}  // namespace

RunnerFlags ParseRunnerFlags(int argc, char** argv) {
  RunnerFlags flags;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], kGpuFlag, sizeof kGpuFlag - 1) == 0) {
      flags.gpu = argv[i] + sizeof kGpuFlag - 1;
    }
    if (std::strncmp(argv[i], kGpuFilterFlag, sizeof kGpuFilterFlag - 1) == 0) {
      flags.gpu_filter = argv[i] + sizeof kGpuFilterFlag - 1;
    }
    if (std::strcmp(argv[i], kInstrumentedFlag) == 0) flags.instrumented = true;
    if (std::strcmp(argv[i], kWarmFlag) == 0) flags.warm = true;
  }
  return flags;
}

bool HasDialogue() {
  struct stat facts;
  return ::fstat(kControlFd, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

bool AwaitBegin() {
  ControlChannel channel(kControlFd);
  v1::RunnerReply ready;
  ready.mutable_ready();
  v1::RunnerRequest request;
  std::vector<UniqueFd> fds;
  return channel.Send(ready) && channel.Receive(&request, &fds) && request.has_begin();
}

int RunDialogue(const RunnerFlags& flags, Program& program) {
  // Starts a thread now, so that the C library's setup for threads is done before the filter.
  std::thread([] {}).join();

  ControlChannel channel(kControlFd);
  v1::RunnerReply hello;
  hello.mutable_hello()->set_version(kDialogueVersion);
  hello.mutable_hello()->set_pid(::getpid());
  const bool has_gpu = !flags.gpu.empty();
  std::string trouble;
  const std::unique_ptr<Execution> execution = MakeExecution(flags, &trouble);
  if (execution == nullptr) {
    SetError(&hello, v1::RunnerReply::RunnerError::DEVICE_FAILED, 0, trouble);
    channel.Send(hello);
    return 1;
  }
  // Not earlier: it makes root own the process's entries in /proc, and the CUDA driver writes to
  // them.
  if (!flags.instrumented) ::prctl(PR_SET_DUMPABLE, 0);
#ifdef KSEARCH_TIGHT_FILTER
  if (!flags.instrumented && !flags.warm) {
    TightFilter filter = TightFilter::kProcessors;
    absl::Status tight;
    if (has_gpu) {
      const absl::StatusOr<TightFilter> named = GpuFilterNamed(flags.gpu_filter);
      tight = named.status();
      filter = named.value_or(filter);
    }
    if (tight.ok()) tight = InstallTightFilter(filter);
    if (!tight.ok()) {
      SetError(&hello, v1::RunnerReply::RunnerError::SECCOMP_FAILED, 0,
               std::string(tight.message().data(), tight.message().size()));
    } else {
      hello.mutable_hello()->set_tight_seccomp(true);
      hello.mutable_hello()->set_allow_list(filter == TightFilter::kProcessors ||
                                            filter == TightFilter::kGpuAllowList);
    }
  }
#endif
  if (!channel.Send(hello)) return 1;

  v1::RunnerRequest request;
  std::vector<UniqueFd> fds;
  bool usable = true;
  while (usable && channel.Receive(&request, &fds)) {
    v1::RunnerReply reply;
    reply.set_nonce(request.nonce());
    reply.set_step(request.step());
    switch (request.body_case()) {
      case v1::RunnerRequest::kLoad:
        program.Load(request.load(), fds, &reply);
        break;
      case v1::RunnerRequest::kMap:
        execution->Map(request.map(), std::move(fds), program, &reply);
        break;
      case v1::RunnerRequest::kBatch:
        usable = execution->RunBatch(request.batch(), program, &reply);
        // A lead-in, unless it asks an idle runner for processors, which must leave them to others,
        // what a round trip costs.
        if (request.batch().set_order().empty() && (has_gpu || program.loaded())) {
          channel.StayAwake();
        }
        break;
      case v1::RunnerRequest::kBegin:  // out of order
      case v1::RunnerRequest::kExit:
      case v1::RunnerRequest::BODY_NOT_SET:
        // Runs no destructors, so no code of the candidate runs from here on.
        ::_exit(0);
    }
    if (!channel.Send(reply)) break;
  }
  if (!usable) ::_exit(0);
  // The verifier has closed its end and kills this process, or the candidate has closed this end.
  // An exit would look like the program's own.
  while (true) ::pause();
}

}  // namespace ksearch
