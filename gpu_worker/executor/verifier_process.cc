#include "gpu_worker/executor/verifier_process.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/message_frames.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr int kSocketInChild = 3;
// Attempts at a request if the process dies while serving it.
constexpr int kAttempts = 2;
constexpr absl::Duration kEndGrace = absl::Seconds(10);

// The environment variables that a trusted child inherits.
constexpr const char* kPassedOn[] = {"PATH",          "KSEARCH_LOG",  "ASAN_OPTIONS",
                                     "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH"};

}  // namespace

absl::Status VerifierProcess::EnsureStarted() {
  if (process_ != nullptr && !process_->Wait(absl::InfinitePast()).has_value()) {
    return absl::OkStatus();
  }
  socket_.Reset();
  process_.reset();
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return ErrnoStatus(errno, "socketpair");
  }
  UniqueFd ours(pair[0]);
  const UniqueFd theirs(pair[1]);
  SubprocessOptions options;
  options.argv = {options_.binary_path, absl::StrCat("--socket-fd=", kSocketInChild),
                  absl::StrCat("--config=", options_.config_path)};
  for (const char* name : kPassedOn) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (value != nullptr) options.environment[name] = value;
  }
  if (!options_.gpu_uuid.empty()) {
    options.argv.push_back(absl::StrCat("--gpu=", options_.gpu_uuid));
    options.environment["CUDA_VISIBLE_DEVICES"] = options_.gpu_uuid;
    options.environment["CUDA_MODULE_LOADING"] = "EAGER";
  }
  options.inherited_fds = {{theirs.get(), kSocketInChild}, {STDERR_FILENO, STDERR_FILENO}};
  ASSIGN_OR_RETURN(process_, spawner_.Start(options));
  socket_ = std::move(ours);
  LOG(INFO) << "msg=\"verifier started\" pid=" << process_->pid()
            << (options_.gpu_uuid.empty() ? "" : " gpu=") << options_.gpu_uuid;
  return absl::OkStatus();
}

std::string VerifierProcess::End() {
  if (process_ == nullptr) return "could not be started";
  // A process that closed its socket is about to end; its exit status tells more than a SIGKILL.
  socket_.Reset();
  auto exit = process_->Wait(Clock::Real().SteadyNow() + absl::Seconds(1));
  if (!exit.has_value()) {
    process_->Kill();
    exit = process_->Wait(Clock::Real().SteadyNow() + kEndGrace);
  }
  process_.reset();
  if (!exit.has_value()) return "cannot be killed";
  return absl::StrCat("ended with ", exit->signaled ? "signal " : "status ", exit->code);
}

absl::StatusOr<v1::Verdict> VerifierProcess::Ask(const v1::VerifierRequest& request,
                                                 absl::Time deadline) {
  RETURN_IF_ERROR(SendMessage(socket_.get(), request, deadline));
  while (true) {
    v1::VerifierReply reply;
    RETURN_IF_ERROR(ReceiveMessage(socket_.get(), deadline, &reply));
    if (reply.request_id() != request.request_id()) {
      return absl::DataLossError("the verifier answered another request");
    }
    switch (reply.body_case()) {
      case v1::VerifierReply::kProgress:
        continue;
      case v1::VerifierReply::kVerdict:
        return std::move(*reply.mutable_verdict());
      case v1::VerifierReply::kInfrastructureError:
        return absl::FailedPreconditionError(reply.infrastructure_error());
      default:
        return absl::DataLossError("the verifier sent an empty reply");
    }
  }
}

absl::StatusOr<v1::Verdict> VerifierProcess::Judge(v1::VerifierRequest request, absl::Time deadline,
                                                   std::stop_token stop) {
  MutexLock turn(&turn_);
  std::string how;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (stop.stop_requested()) return absl::CancelledError("cancelled");
    RETURN_IF_ERROR(Annotate(EnsureStarted(), "verifier"));
    request.set_request_id(RandomHex(8));
    absl::StatusOr<v1::Verdict> verdict = absl::UnknownError("not asked");
    {
      Subprocess* const process = process_.get();
      const std::stop_callback kill(stop, [process] { process->Kill(); });
      verdict = Ask(request, deadline);
    }
    if (verdict.ok()) return verdict;
    if (absl::IsFailedPrecondition(verdict.status())) {
      return absl::UnavailableError(absl::StrCat("verifier: ", verdict.status().message()));
    }
    if (absl::IsDeadlineExceeded(verdict.status())) process_->Kill();
    how = End();
    if (stop.stop_requested()) return absl::CancelledError("cancelled");
    if (absl::IsDeadlineExceeded(verdict.status())) {
      return absl::DeadlineExceededError("the verifier gave no verdict in time and was stopped");
    }
    LOG(ERROR) << "msg=\"verifier lost\" how=\"" << how << "\" error=\""
               << verdict.status().message() << "\" task=" << request.job().task_name();
  }
  return absl::UnavailableError(
      absl::StrCat("the verifier ", how, ", ", kAttempts, " times in a row; its log is on stderr"));
}

absl::Status VerifierProcess::Probe(absl::Time deadline, std::stop_token stop) {
  v1::VerifierRequest request;
  request.set_probe(true);
  return Judge(std::move(request), deadline, stop).status();
}

}  // namespace ksearch
