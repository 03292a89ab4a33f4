#include <unistd.h>

#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/text.h"
#include "common/run_facts.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::string RecheckText(const v1::RecheckResult& result) {
  const std::string verdict =
      absl::AsciiStrToLower(v1::RecheckResult::Verdict_Name(result.verdict()));
  const v1::DeviceFingerprint& before = result.claimed_on();
  const v1::DeviceFingerprint& now = result.repeated().device();
  const bool same_device = before.device_id() == now.device_id();
  return absl::StrCat("claimed: ", RatioText(result.claimed()), " over the baseline of ",
                      result.task(), ", on ", before.name(), " (", before.device_id(), ")\n",
                      same_device ? "again on the same device: " : "on another device: ",
                      now.name(), same_device ? "" : absl::StrCat(" (", now.device_id(), ")"), "\n",
                      ResultText(result.repeated()), "\n", verdict, "  ",
                      ShortId(result.candidate_id()), "  ", result.text(), "\n");
}

}  // namespace

int RecheckCommand(Client* client, const Options& options) {
  v1::RecheckRequest request;
  request.set_run_id(options.run_id);
  request.set_candidate_id(options.candidate_id);
  grpc::ClientContext context;
  const auto stream = client->stub().Recheck(&context, request);
  const bool tty = ::isatty(STDERR_FILENO) == 1;
  v1::RecheckReply reply;
  v1::RecheckResult result;
  while (stream->Read(&reply)) {
    if (reply.has_result()) {
      result = reply.result();
    } else if (tty) {
      std::fprintf(stderr, "\r\033[K%s", reply.progress().c_str());
    }
  }
  if (tty) std::fprintf(stderr, "\r\033[K");
  const grpc::Status status = stream->Finish();
  if (!status.ok()) return Fail(client->Explain(FromGrpc(status)));
  const std::string shown = options.json ? ToJson(result) + "\n" : RecheckText(result);
  std::fputs(shown.c_str(), stdout);
  const v1::Outcome outcome = result.repeated().outcome();
  if (outcome == v1::OUTCOME_WORKER_LOST || outcome == v1::OUTCOME_CANCELLED) {
    return kExitUnavailable;  // says nothing about the claim
  }
  if (outcome == v1::OUTCOME_TASK_ERROR) return kExitConfig;  // neither does this
  switch (result.verdict()) {
    case v1::RecheckResult::HOLDS:
      return kExitOk;
    case v1::RecheckResult::REFUTED:
      return kExitNoCandidate;
    default:
      return kExitOther;
  }
}

}  // namespace ksearch
