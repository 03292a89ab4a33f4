#include "cli/evaluation.h"

#include <unistd.h>

#include <cstdio>

namespace ksearch {

absl::StatusOr<v1::JobResult> Evaluate(Client* client, const v1::EvaluateRequest& request,
                                       const std::string& label, std::string* packet,
                                       google::protobuf::RepeatedPtrField<v1::SuiteScore>* scores) {
  grpc::ClientContext context;
  const auto stream = client->stub().Evaluate(&context, request);
  const bool tty = ::isatty(STDERR_FILENO) == 1;
  v1::EvaluateReply reply;
  v1::JobResult result;
  bool have_result = false;
  while (stream->Read(&reply)) {
    if (reply.has_result()) {
      result = reply.result();
      have_result = true;
      if (scores != nullptr) *scores = reply.suite_scores();
    } else if (reply.has_packet()) {
      if (packet != nullptr) *packet = reply.packet();
    } else if (tty) {
      std::fprintf(stderr, "\r\033[K%s%s", label.c_str(), reply.progress().c_str());
    }
  }
  if (tty) std::fprintf(stderr, "\r\033[K");
  const grpc::Status status = stream->Finish();
  if (!status.ok()) return client->Explain(FromGrpc(status));
  if (!have_result) {
    return absl::InternalError(
        "the coordinator ended the request without a result; its log may say why");
  }
  return result;
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
