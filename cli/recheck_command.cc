#include <unistd.h>

#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/evaluation.h"
#include "cli/result_record.h"
#include "cli/text.h"
#include "common/recheck_verdict.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::string RecheckText(const v1::RecheckResult& result) {
  const std::string verdict =
      absl::AsciiStrToLower(v1::RecheckResult::Verdict_Name(result.verdict()));
  const v1::DeviceFingerprint& before = result.claimed_on();
  const v1::DeviceFingerprint& now = result.repeated().device();
  // A record in a folder names the device's model, but not the device.
  const std::string claimed_on = before.device_id().empty()
                                     ? before.name()
                                     : absl::StrCat(before.name(), " (", before.device_id(), ")");
  const std::string where =
      before.device_id() == now.device_id()
          ? absl::StrCat("again on the same device: ", now.name())
          : absl::StrCat(before.device_id().empty() ? "now on: " : "on another device: ",
                         now.name(), " (", now.device_id(), ")");
  return absl::StrCat("claimed: ", RatioText(result.claimed()), " over the baseline of ",
                      result.task(), ", on ", claimed_on, "\n", where, "\n",
                      ResultText(result.repeated()), "\n", verdict, "  ",
                      ShortId(result.candidate_id()), "  ", result.text(), "\n",
                      DegenerateText(result.degenerate()));
}

// Rechecks a run's candidate, which the coordinator has.
absl::StatusOr<v1::RecheckResult> RecheckOfRun(Client* client, const Options& options) {
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
  if (!status.ok()) return client->Explain(FromGrpc(status));
  return result;
}

// Rechecks a program that lies in a folder with its record.
absl::StatusOr<v1::RecheckResult> RecheckOfRecord(Client* client, const std::string& folder) {
  ASSIGN_OR_RETURN(const RecordedResult recorded, ReadRecordedResult(folder));
  v1::EvaluateRequest request;
  request.set_task(recorded.task);
  *request.mutable_sources() = recorded.sources;
  request.set_kind(v1::JOB_KIND_CONFIRM);
  request.set_repeat(true);
  v1::EvaluateReply beside;
  ASSIGN_OR_RETURN(const v1::JobResult repeated,
                   Evaluate(client, request, "", /*packet=*/nullptr, &beside));
  v1::RecheckResult result = JudgeRecheck(recorded.claim, repeated);
  result.set_task(recorded.task);
  result.set_candidate_id(recorded.candidate_id);
  result.set_degenerate(beside.degenerate());
  return result;
}

}  // namespace

int RecheckCommand(Client* client, const Options& options) {
  const bool is_folder = HasResultRecord(options.run_id);
  if (!is_folder && absl::StrContains(options.run_id, '/')) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat(options.run_id,
                     ": give a run, or a folder that has a record.json, such as one of results/")));
  }
  if (is_folder && !options.candidate_id.empty()) {
    return Fail(absl::InvalidArgumentError("a folder has only one candidate: name none beside it"));
  }
  const auto rechecked =
      is_folder ? RecheckOfRecord(client, options.run_id) : RecheckOfRun(client, options);
  if (!rechecked.ok()) return Fail(rechecked.status());
  const v1::RecheckResult& result = *rechecked;
  const std::string shown = options.json ? ToJson(result) + "\n" : RecheckText(result);
  std::fputs(shown.c_str(), stdout);
  const v1::Outcome outcome = result.repeated().outcome();
  if (outcome == v1::OUTCOME_WORKER_LOST || outcome == v1::OUTCOME_CANCELLED) {
    return kExitUnavailable;  // this outcome says nothing about the claim
  }
  if (outcome == v1::OUTCOME_TASK_ERROR) return kExitConfig;  // nor does this one
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
