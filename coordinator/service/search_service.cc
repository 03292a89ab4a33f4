#include "coordinator/service/search_service.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/digest.h"
#include "common/grpc_channel.h"
#include "common/identity.h"
#include "common/measure_defaults.h"
#include "common/mutex.h"
#include "common/platform.h"
#include "common/recheck_verdict.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "coordinator/engine/job_specs.h"
#include "coordinator/packet/evaluation_packet.h"
#include "coordinator/service/access/call_check.h"
#include "coordinator/service/evaluation.h"
#include "coordinator/service/given_programs.h"
#include "coordinator/service/recheck.h"
#include "coordinator/suites/describe_job.h"
#include "coordinator/views/candidate_view.h"
#include "coordinator/views/evaluation_time.h"
#include "coordinator/views/fleet_view.h"
#include "coordinator/views/result_view.h"
#include "coordinator/views/run_view.h"
#include "coordinator/views/solution_view.h"
#include "coordinator/views/suite_report.h"
#include "coordinator/views/task_view.h"

namespace ksearch {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(100);
constexpr absl::Duration kDefaultWaitForWorker = absl::Seconds(10);

std::string ProgressText(const JobState& state) {
  switch (state.phase) {
    case JobState::Phase::kQueued:
      return "queued: waits for a free worker";
    case JobState::Phase::kLeased:
      return absl::StrCat(absl::AsciiStrToLower(v1::HeldLease::State_Name(state.lease_state)),
                          " on ", state.worker_id);
    default:
      return "";
  }
}

// Turns a view's answer into an RPC's.
template <typename Reply>
grpc::Status Answer(absl::StatusOr<Reply> answer, Reply* reply) {
  if (!answer.ok()) return ToGrpc(answer.status());
  *reply = *std::move(answer);
  return grpc::Status::OK;
}

}  // namespace

absl::Status SearchService::CheckStillServed(const grpc::ServerContext& context) const {
  if (closing_) return absl::UnavailableError("the coordinator is shutting down");
  if (parts_.access == nullptr) return absl::OkStatus();
  return CallerOf(*parts_.access, context).status();
}

absl::Status SearchService::AwaitWorker(const grpc::ServerContext& context,
                                        const v1::StartRunRequest& request) {
  if (request.without_workers()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto spec, parts_.runs->ScreeningJob(request.config()));
  if (!spec.has_value()) return absl::OkStatus();
  const Clock& clock = Clock::Real();
  const absl::Time give_up = clock.SteadyNow() + FromProto(request.wait_for_workers());
  int64_t seen = 0;
  while (!parts_.workers->CanPlace(*spec)) {
    RETURN_IF_ERROR(CheckStillServed(context));
    if (context.IsCancelled()) return absl::CancelledError("the caller went away");
    parts_.workers->NoteWanted(*spec, absl::StrCat("start ", request.request_id()));
    if (clock.SteadyNow() >= give_up) {
      return absl::FailedPreconditionError(
          absl::StrCat(NoWorkerText(*spec, parts_.workers->Workers()),
                       ". No model was asked. --wait-for-workers 10m waits for one, "
                       "--without-workers starts the run anyway"));
    }
    seen = parts_.results->Wait(seen, kPollInterval);
  }
  return absl::OkStatus();
}

grpc::Status SearchService::StartRun(grpc::ServerContext* context,
                                     const v1::StartRunRequest* request, v1::StartRunReply* reply) {
  v1::StartRunRequest complete = *request;
  absl::Status status = CheckDisk();
  if (status.ok()) status = ReadSeed(*parts_.tasks, &complete);
  if (status.ok()) status = AwaitWorker(*context, complete);
  if (!status.ok()) return ToGrpc(status);
  const auto run_id = parts_.runs->Start(complete.request_id(), complete.config());
  if (!run_id.ok()) return ToGrpc(run_id.status());
  reply->set_run_id(*run_id);
  return grpc::Status::OK;
}

grpc::Status SearchService::EstimateRun(grpc::ServerContext*, const v1::StartRunRequest* request,
                                        v1::RunEstimate* reply) {
  v1::StartRunRequest complete = *request;
  if (const absl::Status status = ReadSeed(*parts_.tasks, &complete); !status.ok()) {
    return ToGrpc(status);
  }
  auto estimate = parts_.runs->Estimate(complete.config());
  if (!estimate.ok()) return ToGrpc(estimate.status());
  const absl::Status status =
      FillEvaluationTime(*parts_.store, *parts_.workers, *parts_.tasks, &*estimate);
  if (!status.ok()) return ToGrpc(status);
  *reply = *std::move(estimate);
  return grpc::Status::OK;
}

grpc::Status SearchService::ListRuns(grpc::ServerContext*, const v1::ListRunsRequest* request,
                                     v1::ListRunsReply* reply) {
  const auto runs = parts_.store->ListRuns();
  if (!runs.ok()) return ToGrpc(runs.status());
  for (const v1::RunStatus& run : *runs) {
    const bool wanted =
        request->experiment().empty() || run.trial().experiment() == request->experiment();
    if (wanted) *reply->add_runs() = run;
  }
  return grpc::Status::OK;
}

grpc::Status SearchService::GetRun(grpc::ServerContext*, const v1::GetRunRequest* request,
                                   v1::RunStatus* reply) {
  return Answer(ViewRun(*parts_.store, *parts_.workers, request->run_id()), reply);
}

grpc::Status SearchService::GetTree(grpc::ServerContext*, const v1::GetTreeRequest* request,
                                    v1::WorldModel* reply) {
  const auto run_id = parts_.store->ResolveRun(request->run_id());
  if (!run_id.ok()) return ToGrpc(run_id.status());
  return Answer(parts_.store->ReadWorldModel(*run_id, request->revision()), reply);
}

grpc::Status SearchService::GetBest(grpc::ServerContext*, const v1::GetBestRequest* request,
                                    v1::BestReply* reply) {
  const absl::Status status = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(*reply, ViewBest(*parts_.store, request->run_id()));
    for (v1::SuiteScore& score : parts_.tasks->Scores(reply->task(), reply->confirmation())) {
      *reply->add_suite_scores() = std::move(score);
    }
    return absl::OkStatus();
  }();
  return ToGrpc(status);
}

grpc::Status SearchService::GetCandidate(grpc::ServerContext*,
                                         const v1::GetCandidateRequest* request,
                                         v1::CandidateReply* reply) {
  const absl::Status status = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(*reply, ViewCandidate(*parts_.store, *request));
    ASSIGN_OR_RETURN(const std::string run_id, parts_.store->ResolveRun(request->run_id()));
    ASSIGN_OR_RETURN(const v1::RunStatus run, parts_.store->ReadRunStatus(run_id));
    if (reply->results().empty()) return absl::OkStatus();
    for (v1::SuiteScore& score : parts_.tasks->Scores(run.task(), reply->results(0))) {
      *reply->add_suite_scores() = std::move(score);
    }
    return absl::OkStatus();
  }();
  return ToGrpc(status);
}

grpc::Status SearchService::StopRun(grpc::ServerContext*, const v1::StopRunRequest* request,
                                    v1::RunStatus* reply) {
  const auto run_id = parts_.store->ResolveRun(request->run_id());
  if (!run_id.ok()) return ToGrpc(run_id.status());
  if (const absl::Status status = parts_.runs->Stop(*run_id); !status.ok()) return ToGrpc(status);
  return Answer(ViewRun(*parts_.store, *parts_.workers, *run_id), reply);
}

grpc::Status SearchService::ResumeRun(grpc::ServerContext*, const v1::ResumeRunRequest* request,
                                      v1::RunStatus* reply) {
  const auto run_id = parts_.store->ResolveRun(request->run_id());
  if (!run_id.ok()) return ToGrpc(run_id.status());
  absl::Status resumed = CheckDisk();
  if (resumed.ok()) {
    resumed = parts_.runs->Resume(*run_id, request->rounds(), request->budget());
  }
  if (!resumed.ok()) return ToGrpc(resumed);
  return Answer(ViewRun(*parts_.store, *parts_.workers, *run_id), reply);
}

grpc::Status SearchService::ListWorkers(grpc::ServerContext*, const v1::ListWorkersRequest* request,
                                        v1::ListWorkersReply* reply) {
  const Retirement retirement = {.listed = request->gone(),
                                 .now = Clock::Real().Now(),
                                 .after = parts_.workers->retire_after()};
  const grpc::Status status = Answer(ViewWorkers(*parts_.store, *parts_.workers, retirement,
                                                 {request->page_size(), request->page_token()}),
                                     reply);
  if (!status.ok() || !request->page_token().empty()) return status;
  if (parts_.pools != nullptr) {
    for (v1::PoolStatus& pool : parts_.pools->Pools()) *reply->add_pools() = std::move(pool);
  }
  if (parts_.refusals != nullptr) {
    for (v1::WorkerRefusal& one : parts_.refusals->Refusals()) {
      *reply->add_refusals() = std::move(one);
    }
  }
  return status;
}

grpc::Status SearchService::DrainWorker(grpc::ServerContext*, const v1::DrainWorkerRequest* request,
                                        v1::DrainWorkerReply*) {
  std::optional<absl::Duration> grace;
  if (request->has_grace()) {
    grace = FromProto(request->grace());
    if (*grace < absl::ZeroDuration()) {
      return ToGrpc(absl::InvalidArgumentError("grace: must not be negative"));
    }
  }
  return ToGrpc(parts_.workers->Drain(request->worker_id(), grace));
}

grpc::Status SearchService::ListTasks(grpc::ServerContext*, const v1::ListTasksRequest* request,
                                      v1::ListTasksReply* reply) {
  return Answer(ViewTasks(*parts_.store, *parts_.tasks, *request), reply);
}

grpc::Status SearchService::ListSolutions(grpc::ServerContext*,
                                          const v1::ListSolutionsRequest* request,
                                          v1::ListSolutionsReply* reply) {
  return Answer(ViewSolutions(*parts_.tasks, *parts_.workers, request->task()), reply);
}

grpc::Status SearchService::ListResults(grpc::ServerContext*, const v1::ListResultsRequest* request,
                                        v1::ListResultsReply* reply) {
  return Answer(ViewResults(*parts_.store, *parts_.workers, *parts_.tasks, *request), reply);
}

grpc::Status SearchService::ReportSuite(grpc::ServerContext*, const v1::ReportSuiteRequest* request,
                                        v1::SuiteReport* reply) {
  return Answer(ksearch::ReportSuite(*parts_.store, *parts_.tasks, *request), reply);
}

grpc::Status SearchService::Evaluate(grpc::ServerContext* context,
                                     const v1::EvaluateRequest* request,
                                     grpc::ServerWriter<v1::EvaluateReply>* writer) {
  const absl::Status room = CheckDisk();
  return ToGrpc(room.ok() ? Judge(context, *request, writer) : room);
}

absl::Status SearchService::Describe(grpc::ServerContext* context,
                                     const v1::EvaluateRequest& request,
                                     grpc::ServerWriter<v1::EvaluateReply>* writer) {
  ASSIGN_OR_RETURN(const ProblemProgram program, parts_.tasks->DescribingProgramOf(request.task()));
  DescribeJob job = MakeDescribeJob(program);
  const absl::Duration wait =
      request.has_wait_for_worker() ? FromProto(request.wait_for_worker()) : kDefaultWaitForWorker;
  ASSIGN_OR_RETURN(const std::string job_id, IdOfJobToTry(*parts_.store, &job.spec));
  v1::EvaluateReply reply;
  ASSIGN_OR_RETURN(*reply.mutable_result(),
                   Await(context, job.task, job_id, job.spec, Clock::Real().SteadyNow() + wait,
                         [&](const std::string& text) {
                           v1::EvaluateReply progress;
                           progress.set_progress(text);
                           writer->Write(progress);
                         }));
  if (reply.result().outcome() == v1::OUTCOME_PASSED) {
    // The description may say that the problem cannot be a task.
    const absl::Status usable = parts_.tasks->Load(request.task()).status();
    if (!usable.ok()) {
      reply.mutable_result()->set_outcome(v1::OUTCOME_INVALID_SOURCE);
      reply.mutable_result()->set_message(std::string(usable.message()));
    }
  }
  writer->Write(reply);
  return absl::OkStatus();
}

absl::Status SearchService::Judge(grpc::ServerContext* context, const v1::EvaluateRequest& asked,
                                  grpc::ServerWriter<v1::EvaluateReply>* writer) {
  if (asked.kind() == v1::JOB_KIND_DESCRIBE) return Describe(context, asked, writer);
  v1::EvaluateRequest request = asked;
  ASSIGN_OR_RETURN(v1::Task task, parts_.tasks->Load(request.task()));
  RETURN_IF_ERROR(ReadPrograms(*parts_.tasks, &request));
  RETURN_IF_ERROR(ReadMode(*parts_.tasks, &request, &task));
  ASSIGN_OR_RETURN(v1::JobSpec spec, EvaluationJob(task, request));

  const Clock& clock = Clock::Real();
  const absl::Duration wait =
      request.has_wait_for_worker() ? FromProto(request.wait_for_worker()) : kDefaultWaitForWorker;
  const auto progress = [&](const std::string& text) {
    v1::EvaluateReply reply;
    reply.set_progress(text);
    writer->Write(reply);
  };
  v1::EvaluateReply reply;
  ASSIGN_OR_RETURN(spec, Place(context, std::move(spec), clock.SteadyNow() + wait, progress));
  do {
    ASSIGN_OR_RETURN(const std::string job_id, IdOfJobToTry(*parts_.store, &spec));
    ASSIGN_OR_RETURN(*reply.mutable_result(),
                     Await(context, task, job_id, spec, clock.SteadyNow() + wait, progress));
    // The job was dropped for an earlier client just as this one came.
  } while (reply.result().outcome() == v1::OUTCOME_CANCELLED &&
           reply.result().message() == kClientLeft);
  if (std::optional<v1::JobSpec> profile = ProfileJob(task, request, reply.result());
      profile.has_value()) {
    ASSIGN_OR_RETURN(const std::string profile_id,
                     IdOfProfileToTry(*parts_.store, /*replays=*/false, &*profile));
    ASSIGN_OR_RETURN(const v1::JobResult profiled, Await(context, task, profile_id, *profile,
                                                         clock.SteadyNow() + wait, progress));
    *reply.mutable_result()->mutable_profile() = ProfileIn(profiled);
  }
  const std::string packet =
      request.profile() ? EvaluationPacket({&reply.result(), nullptr, &task}) : "";
  for (v1::SuiteScore& score : parts_.tasks->Scores(request.task(), reply.result())) {
    *reply.add_suite_scores() = std::move(score);
  }
  reply.set_degenerate(task.degenerate());
  writer->Write(reply);
  if (packet.empty()) return absl::OkStatus();
  reply.clear_suite_scores();
  reply.clear_degenerate();
  reply.set_packet(packet);
  writer->Write(reply);
  return absl::OkStatus();
}

grpc::Status SearchService::Recheck(grpc::ServerContext* context, const v1::RecheckRequest* request,
                                    grpc::ServerWriter<v1::RecheckReply>* writer) {
  const absl::Status room = CheckDisk();
  return ToGrpc(room.ok() ? RepeatConfirmation(context, *request, writer) : room);
}

absl::Status SearchService::RepeatConfirmation(grpc::ServerContext* context,
                                               const v1::RecheckRequest& request,
                                               grpc::ServerWriter<v1::RecheckReply>* writer) {
  ASSIGN_OR_RETURN(const std::string run_id, parts_.store->ResolveRun(request.run_id()));
  ASSIGN_OR_RETURN(const RunRow run, parts_.store->ReadRun(run_id));
  std::string candidate_id = request.candidate_id();
  if (candidate_id.empty()) {
    candidate_id = run.status.best().candidate_id();
    if (candidate_id.empty()) {
      return absl::NotFoundError(absl::StrCat("run ", run_id, " has no confirmed candidate yet"));
    }
  }
  ASSIGN_OR_RETURN(const CandidateRow row, parts_.store->ReadCandidate(run_id, candidate_id));
  ASSIGN_OR_RETURN(const auto results, parts_.store->ReadResultsOf(run_id, row.candidate_id));
  ASSIGN_OR_RETURN(const v1::JobResult claim, ClaimIn(results, row.candidate_id));
  ASSIGN_OR_RETURN(v1::JobSpec spec, parts_.store->ReadJob(claim.job_id()));
  // Uses the task as it was then, whatever became of its folder.
  ASSIGN_OR_RETURN(const std::string blob, parts_.store->ReadBlob(spec.task_sha256()));
  v1::Task task;
  if (!task.ParseFromString(blob)) {
    return absl::DataLossError(absl::StrCat("task ", spec.task_sha256(), " is unreadable"));
  }
  spec = RecheckJob(std::move(spec), WithDefaults(run.config.measure()).confidence(),
                    absl::StrCat("recheck/", RandomHex(8)), claim.device().device_id());
  // Uses the claim's platform if it is still there; else the verdict says what differs.
  v1::JobSpec anywhere = spec;
  anywhere.clear_platform();
  if (spec.platform().ByteSizeLong() == 0) SetPlatform(PlatformOf(claim.device()), &spec);
  if (parts_.workers->PlatformsFor(spec).empty()) spec = std::move(anywhere);
  const auto progress = [&](const std::string& text) {
    v1::RecheckReply reply;
    reply.set_progress(text);
    writer->Write(reply);
  };
  const absl::Duration wait =
      request.has_wait_for_worker() ? FromProto(request.wait_for_worker()) : kDefaultWaitForWorker;
  ASSIGN_OR_RETURN(spec,
                   Place(context, std::move(spec), Clock::Real().SteadyNow() + wait, progress));
  ASSIGN_OR_RETURN(const v1::JobResult repeated, Await(context, task, JobId(spec), spec,
                                                       Clock::Real().SteadyNow() + wait, progress));
  v1::RecheckReply reply;
  *reply.mutable_result() = JudgeRecheck(claim, repeated);
  reply.mutable_result()->set_run_id(run_id);
  reply.mutable_result()->set_task(spec.task_name());
  reply.mutable_result()->set_candidate_id(row.candidate_id);
  reply.mutable_result()->set_degenerate(task.degenerate());
  writer->Write(reply);
  return absl::OkStatus();
}

absl::StatusOr<v1::JobResult> SearchService::Await(
    grpc::ServerContext* context, const v1::Task& task, const std::string& job_id,
    const v1::JobSpec& spec, absl::Time give_up,
    const std::function<void(const std::string&)>& progress) {
  const Clock& clock = Clock::Real();
  bool submitted = false;
  clients_.Enter(job_id);
  const absl::Cleanup leave = [&] {
    const bool last = clients_.Leave(job_id);
    // A coordinator that shuts down keeps the job for its next start.
    if (last && submitted && !closing_ && context->IsCancelled()) DropIfUnwanted(job_id);
  };
  int64_t seen = 0;
  std::string said;
  while (!context->IsCancelled()) {
    RETURN_IF_ERROR(CheckStillServed(*context));
    ASSIGN_OR_RETURN(const auto result, parts_.store->ReadResult(job_id));
    if (result.has_value()) return *result;
    if (!submitted) {
      if (parts_.workers->CanPlace(spec)) {
        // Stored only now: every later start restores a stored job.
        RETURN_IF_ERROR(parts_.store->PutBlob(spec.task_sha256(), task.SerializeAsString()));
        RETURN_IF_ERROR(parts_.store->AddJob(job_id, spec));
        parts_.workers->Submit(job_id, spec, 0);
        submitted = true;
      } else if (clock.SteadyNow() >= give_up) {
        return absl::FailedPreconditionError(NoWorkerText(spec, parts_.workers->Workers()));
      } else {
        parts_.workers->NoteWanted(spec, absl::StrCat("job ", job_id));
      }
    }
    const std::string now =
        submitted ? ProgressText(parts_.workers->State(job_id)) : "waiting for a worker";
    if (!now.empty() && now != said) {
      progress(now);
      said = now;
    }
    seen = parts_.results->Wait(seen, kPollInterval);
  }
  return absl::CancelledError("the caller went away");
}

grpc::Status SearchService::CheckProvider(grpc::ServerContext* context,
                                          const v1::CheckProviderRequest* request,
                                          v1::CheckProviderReply* reply) {
  constexpr absl::Duration kLongest = absl::Seconds(25);
  struct Answer {
    Mutex mu;
    CondVar changed;
    std::optional<absl::StatusOr<LlmReply>> reply ABSL_GUARDED_BY(mu);
  };
  const auto answer = std::make_shared<Answer>();  // the model call may outlive this RPC
  const absl::Time start = absl::Now();
  parts_.models->Check(request->provider(), request->model(),
                       [answer](absl::StatusOr<LlmReply> said) {
                         MutexLock lock(&answer->mu);
                         answer->reply = std::move(said);
                         answer->changed.NotifyAll();
                       });
  MutexLock lock(&answer->mu);
  while (!answer->reply.has_value()) {
    if (closing_ || context->IsCancelled() || absl::Now() - start > kLongest) {
      return ToGrpc(absl::DeadlineExceededError(
          absl::StrCat("provider '", request->provider(), "' has not answered within ",
                       absl::FormatDuration(absl::Now() - start),
                       "; the coordinator's log says what it is waiting for")));
    }
    answer->changed.WaitFor(&answer->mu, absl::Milliseconds(100));
  }
  reply->set_seconds(absl::ToDoubleSeconds(absl::Now() - start));
  if (!answer->reply->ok()) {
    reply->set_error(std::string(answer->reply->status().message()));
    return grpc::Status::OK;
  }
  const std::string text = (*answer->reply)->text.substr(0, 120);
  reply->set_text(text.substr(0, ValidUtf8Bytes(text)));
  reply->set_model((*answer->reply)->model);
  reply->set_finish_reason((*answer->reply)->finish_reason);
  reply->set_input_tokens((*answer->reply)->usage.input());
  reply->set_output_tokens((*answer->reply)->usage.output());
  return grpc::Status::OK;
}

grpc::Status SearchService::GetServerFacts(grpc::ServerContext*, const v1::GetServerFactsRequest*,
                                           v1::ServerFacts* reply) {
  *reply = parts_.facts;
  for (v1::ProviderFacts& provider : parts_.models->Facts()) {
    *reply->add_provider_facts() = std::move(provider);
  }
  int connected = 0;
  for (const v1::WorkerStatus& worker : parts_.workers->Workers()) connected += worker.connected();
  reply->set_workers_connected(connected);
  reply->set_jobs_queued(parts_.workers->queued());
  reply->set_jobs_leased(parts_.workers->leased());
  if (parts_.disk != nullptr) {
    if (const auto space = parts_.disk->ReadSpace(); space.ok()) {
      reply->set_free_bytes(space->free_bytes);
      reply->set_least_free_bytes(space->least_free_bytes);
    }
  }
  if (parts_.sinks) {
    for (v1::SinkFacts& sink : parts_.sinks()) *reply->add_sinks() = std::move(sink);
  }
  return grpc::Status::OK;
}

}  // namespace ksearch
