// The RPCs about jobs: listing those that wait or are in progress, and canceling one.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/grpc_channel.h"
#include "common/identity.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/service/evaluation.h"
#include "coordinator/service/search_service.h"

namespace ksearch {
namespace {

constexpr absl::Duration kLongestCancel = absl::Seconds(10);
constexpr absl::Duration kPollInterval = absl::Milliseconds(100);
constexpr size_t kMaxJobIdBytes = 64;

absl::Status AlreadyEnded(const v1::JobResult& result) {
  if (result.outcome() == v1::OUTCOME_CANCELLED) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("job ", result.job_id(), " has ended as ",
                                                    v1::Outcome_Name(result.outcome()),
                                                    "; `ksearch jobs` lists those that have not"));
}

}  // namespace

grpc::Status SearchService::ListJobs(grpc::ServerContext*, const v1::ListJobsRequest* request,
                                     v1::ListJobsReply* reply) {
  const auto jobs = parts_.store->ReadUnfinishedJobs();
  if (!jobs.ok()) return ToGrpc(jobs.status());
  for (const QueuedJob& job : *jobs) {
    if (!request->task().empty() && job.spec.task_name() != request->task()) continue;
    v1::JobSummary* summary = reply->add_jobs();
    summary->set_job_id(job.job_id);
    summary->set_kind(job.spec.kind());
    summary->set_task(job.spec.task_name());
    summary->set_candidate_id(CandidateId(job.spec.candidate()));
    const WorkerGateway::JobFacts facts = parts_.workers->FactsOf(job.job_id);
    *summary->mutable_created_at() = ToProto(facts.since);
    for (const std::string& run_id : job.run_ids) summary->add_run_ids(run_id);
    summary->set_clients(clients_.Waiting(job.job_id));
    summary->set_attempts(job.attempts);
    if (job.spec.has_platform()) *summary->mutable_platform() = job.spec.platform();
    const JobState state = parts_.workers->State(job.job_id);
    if (state.phase == JobState::Phase::kLeased) {
      summary->set_state(v1::JobSummary::LEASED);
      summary->set_stage(state.lease_state);
      summary->set_worker_id(state.worker_id);
      continue;
    }
    // A job that the scheduler no longer has is about to get its result.
    summary->set_state(state.phase == JobState::Phase::kDone ? v1::JobSummary::ENDED
                                                             : v1::JobSummary::QUEUED);
    if (!facts.last_trouble.empty()) {
      summary->set_note(facts.last_trouble);
    } else if (!parts_.workers->CanPlace(job.spec)) {
      summary->set_note(NoWorkerReason(job.spec, parts_.workers->Workers()));
    }
  }
  return grpc::Status::OK;
}

grpc::Status SearchService::CancelJob(grpc::ServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::CancelJobReply* reply) {
  return ToGrpc(Cancel(context, *request, reply));
}

absl::Status SearchService::Cancel(grpc::ServerContext* context,
                                   const v1::CancelJobRequest& request, v1::CancelJobReply* reply) {
  const std::string& prefix = request.job_id();
  if (prefix.empty() || prefix.size() > kMaxJobIdBytes) {
    return absl::InvalidArgumentError("job_id: must be a job's id or a prefix of one");
  }
  ASSIGN_OR_RETURN(const auto result, parts_.store->ReadResult(prefix));
  if (result.has_value()) {
    reply->set_job_id(prefix);
    return AlreadyEnded(*result);
  }
  ASSIGN_OR_RETURN(const std::vector<QueuedJob> jobs, parts_.store->ReadUnfinishedJobs());
  std::string job_id;
  for (const QueuedJob& job : jobs) {
    if (!absl::StartsWith(job.job_id, prefix)) continue;
    if (!job_id.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("job_id: several jobs begin with ", prefix, "; give more of it"));
    }
    job_id = job.job_id;
  }
  if (job_id.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no job ", prefix, " waits or is at work; `ksearch jobs` lists them"));
  }
  reply->set_job_id(job_id);
  parts_.workers->End(job_id, v1::OUTCOME_CANCELLED, "cancelled by request");
  const Clock& clock = Clock::Real();
  const absl::Time give_up = clock.SteadyNow() + kLongestCancel;
  for (int64_t seen = 0; clock.SteadyNow() < give_up && !context->IsCancelled();) {
    ASSIGN_OR_RETURN(const auto ended, parts_.store->ReadResult(job_id));
    if (ended.has_value()) return AlreadyEnded(*ended);
    seen = parts_.results->Wait(seen, kPollInterval);
  }
  return absl::UnavailableError(
      absl::StrCat("job ", job_id, " is canceled, but its end is not recorded yet"));
}

void SearchService::DropIfUnwanted(const std::string& job_id) {
  const auto jobs = parts_.store->ReadUnfinishedJobs();
  if (!jobs.ok()) return;
  const auto job = std::find_if(jobs->begin(), jobs->end(),
                                [&](const QueuedJob& each) { return each.job_id == job_id; });
  if (job == jobs->end() || !job->run_ids.empty()) return;
  parts_.workers->End(job_id, v1::OUTCOME_CANCELLED, std::string(kClientLeft));
}

}  // namespace ksearch
