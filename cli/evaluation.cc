#include "cli/evaluation.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/reconnection.h"
#include "common/digest.h"
#include "common/textproto.h"

namespace ksearch {

absl::StatusOr<v1::JobResult> Evaluate(Client* client, const v1::EvaluateRequest& request,
                                       const std::string& label, std::string* packet,
                                       v1::EvaluateReply* beside) {
  const bool tty = ::isatty(STDERR_FILENO) == 1;
  // A new evaluation, but the same one if it has to be asked for again.
  v1::EvaluateRequest asked = request;
  if (asked.repeat()) {
    asked.set_salt(RandomHex(8));
    asked.clear_repeat();
  }
  Reconnection reconnection;
  while (true) {
    grpc::ClientContext context;
    const auto stream = client->stub().Evaluate(&context, asked);
    v1::EvaluateReply reply;
    v1::JobResult result;
    bool have_result = false;
    while (stream->Read(&reply)) {
      reconnection.NoteReply();
      if (reply.has_result()) {
        result = std::move(*reply.mutable_result());
        have_result = true;
        reply.clear_result();
        if (beside != nullptr) *beside = reply;
      } else if (reply.has_packet()) {
        if (packet != nullptr) *packet = reply.packet();
      } else if (tty) {
        std::fprintf(stderr, "\r\033[K%s%s", label.c_str(), reply.progress().c_str());
      }
    }
    const absl::Status status = FromGrpc(stream->Finish());
    // A busy machine may lose a connection that answers too late. Asked again, the coordinator goes
    // on with the same job, or has its result.
    if (reconnection.WaitToAskAgain(status)) {
      // Its workers may come back later than the coordinator.
      if (FromProto(asked.wait_for_worker()) < kReconnectFor) {
        *asked.mutable_wait_for_worker() = ToProto(kReconnectFor);
      }
      continue;
    }
    if (tty) std::fprintf(stderr, "\r\033[K");
    if (!status.ok()) return client->Explain(status);
    if (!have_result) {
      return absl::InternalError(
          "the coordinator ended the request without a result; its log may say why");
    }
    return result;
  }
}

ExitCode ExitCodeFor(const v1::JobResult& result) {
  switch (result.outcome()) {
    case v1::OUTCOME_PASSED:
      return kExitOk;
    case v1::OUTCOME_WORKER_LOST:
    case v1::OUTCOME_CANCELLED:
      return kExitUnavailable;  // this outcome says nothing about the sources
    case v1::OUTCOME_TASK_ERROR:
      return kExitConfig;  // nor does this one
    default:
      return kExitNoCandidate;
  }
}

}  // namespace ksearch
