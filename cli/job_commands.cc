// Lists jobs that wait or are in progress, and cancels one.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/text.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

std::string Lower(absl::string_view name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

// "queued", "building on w-1", ...
std::string StateOf(const v1::JobSummary& job) {
  if (job.state() != v1::JobSummary::LEASED) {
    return Lower(v1::JobSummary::State_Name(job.state()), "");
  }
  const bool stage_known = job.stage() != v1::HeldLease::STATE_UNSPECIFIED;
  return absl::StrCat(stage_known ? Lower(v1::HeldLease::State_Name(job.stage()), "") : "offered",
                      " on ", job.worker_id());
}

// Who waits for it.
std::string WantedBy(const v1::JobSummary& job) {
  std::vector<std::string> who(job.run_ids().begin(), job.run_ids().end());
  if (job.clients() > 0) {
    who.push_back(absl::StrCat(job.clients(), job.clients() == 1 ? " client" : " clients"));
  }
  return who.empty() ? "nobody" : absl::StrJoin(who, ", ");
}

}  // namespace

int JobsCommand(Client* client, const Options& options) {
  v1::ListJobsRequest request;
  request.set_task(options.task);
  const auto reply = client->Call<v1::ListJobsRequest, v1::ListJobsReply>(&Stub::ListJobs, request);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  std::vector<std::vector<std::string>> rows = {
      {"job", "kind", "task", "candidate", "state", "age", "for", "note"}};
  for (const v1::JobSummary& job : reply->jobs()) {
    rows.push_back(
        {ShortId(job.job_id()), Lower(v1::JobKind_Name(job.kind()), "JOB_KIND_"), job.task(),
         ShortId(job.candidate_id()), StateOf(job),
         absl::StrFormat("%.0fs", absl::ToDoubleSeconds(absl::Now() - FromProto(job.created_at()))),
         WantedBy(job), job.note()});
  }
  std::fputs(Table(rows).c_str(), stdout);
  return kExitOk;
}

int CancelCommand(Client* client, const Options& options) {
  v1::CancelJobRequest request;
  request.set_job_id(options.job_id);
  const auto reply =
      client->Call<v1::CancelJobRequest, v1::CancelJobReply>(&Stub::CancelJob, request);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  std::fputs(absl::StrCat("cancelled ", reply->job_id(), "\n").c_str(), stdout);
  return kExitOk;
}

}  // namespace ksearch
