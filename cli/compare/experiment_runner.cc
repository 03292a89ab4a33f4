#include "cli/compare/experiment_runner.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/grpc_channel.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

constexpr absl::Duration kPollInterval = absl::Milliseconds(300);
constexpr absl::Duration kWaitForWorkers = absl::Seconds(30);
// How long a coordinator, or its workers, may be away before the command gives up; typing the same
// command continues later.
constexpr absl::Duration kPatience = absl::Minutes(10);
constexpr int kSessionTries = 3;

// Repeats `call` while it returns UNAVAILABLE and patience lasts.
template <typename Call>
auto Patiently(Call call) -> decltype(call()) {
  const absl::Time give_up = absl::Now() + kPatience;
  while (true) {
    auto reply = call();
    if (!absl::IsUnavailable(reply.status()) || absl::Now() >= give_up) return reply;
    absl::SleepFor(absl::Seconds(1));
  }
}

absl::Status WithArm(const v1::Experiment& experiment, int arm, const std::string& task,
                     const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("arms[", arm, "] (", experiment.arms(arm).name(), ") on task '",
                                   task, "': ", std::string(status.message())));
}

}  // namespace

ExperimentRunner::ExperimentRunner(Client* client, const v1::Experiment& experiment,
                                   SeedsByTask seeds, Say say)
    : client_(client),
      experiment_(experiment),
      trials_(TrialsOf(experiment, seeds)),
      say_(std::move(say)) {}

absl::StatusOr<std::vector<ArmEstimate>> ExperimentRunner::Estimate() {
  ASSIGN_OR_RETURN(const v1::ListTasksReply tasks,
                   (client_->Call<v1::ListTasksRequest, v1::ListTasksReply>(
                       &Stub::ListTasks, v1::ListTasksRequest())));
  std::vector<ArmEstimate> estimates;
  for (const PlannedTrial& trial : trials_) {
    if (trial.seed != 1) break;  // all arms and tasks come with the first seed
    ArmEstimate each;
    each.arm = trial.arm;
    each.task = trial.task;
    for (const v1::TaskSummary& task : tasks.tasks()) {
      if (task.name() != trial.task) continue;
      each.device = task.device();
      each.workloads = task.feedback_workloads() + task.held_out_workloads();
    }
    v1::StartRunRequest request;
    *request.mutable_config() = trial.config;
    auto estimate =
        client_->Call<v1::StartRunRequest, v1::RunEstimate>(&Stub::EstimateRun, request);
    if (!estimate.ok()) return WithArm(experiment_, trial.arm, trial.task, estimate.status());
    each.estimate = *std::move(estimate);
    estimates.push_back(std::move(each));
  }
  return estimates;
}

absl::StatusOr<std::map<ExperimentRunner::Place, v1::RunStatus>> ExperimentRunner::Recorded() {
  v1::ListRunsRequest request;
  request.set_experiment(experiment_.name());
  ASSIGN_OR_RETURN(const v1::ListRunsReply reply, Patiently([&] {
                     return client_->Call<v1::ListRunsRequest, v1::ListRunsReply>(&Stub::ListRuns,
                                                                                  request);
                   }));
  std::map<Place, v1::RunStatus> runs;
  for (const v1::RunStatus& run : reply.runs()) {
    runs[{run.task(), run.trial().arm(), run.trial().seed()}] = run;
  }
  return runs;
}

absl::Status ExperimentRunner::CheckRecorded(const std::vector<ArmEstimate>& estimates) {
  ASSIGN_OR_RETURN(const auto runs, Recorded());
  for (const ArmEstimate& each : estimates) {
    const std::string& arm = experiment_.arms(each.arm).name();
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const auto& entry) {
      return std::get<0>(entry.first) == each.task && std::get<1>(entry.first) == arm;
    });
    if (run == runs.end()) continue;
    v1::ExportRunRequest request;
    request.set_run_id(run->second.run_id());
    request.set_without_results(true);
    grpc::ClientContext context;
    const auto stream = client_->stub().ExportRun(&context, request);
    v1::RecordedLine line;
    const bool read = stream->Read(&line);
    context.TryCancel();
    const grpc::Status ended = stream->Finish();
    if (!read || !line.has_header()) {
      return client_->Explain(
          ended.ok() ? absl::DataLossError(
                           "the coordinator sent a run's recording without its header; is it "
                           "of the same version as this command?")
                     : FromGrpc(ended));
    }
    const std::vector<std::string> fields =
        DifferingFields(each.estimate.config(), line.header().config());
    if (fields.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("experiment '", experiment_.name(), "' has run ", run->second.run_id(),
                     " of arm '", arm, "', which was started with another ", fields[0],
                     ": give the experiment another name, or set ", fields[0], " as it was"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::RunEvent>> ExperimentRunner::EventsOf(const std::string& run_id) {
  std::vector<v1::RunEvent> events;
  v1::ListEventsRequest request;
  request.set_run_id(run_id);
  while (true) {
    ASSIGN_OR_RETURN(const v1::ListEventsReply page, Patiently([&] {
                       return client_->Call<v1::ListEventsRequest, v1::ListEventsReply>(
                           &Stub::ListEvents, request);
                     }));
    if (page.events_size() == 0) return events;
    events.insert(events.end(), page.events().begin(), page.events().end());
    request.set_after_seq(events.back().seq());
  }
}

absl::StatusOr<SessionVerdict> ExperimentRunner::Session(const v1::RunStatus& run,
                                                         const std::string& candidate_id,
                                                         int session) {
  v1::GetCandidateRequest which;
  which.set_run_id(run.run_id());
  which.set_candidate_id(candidate_id);
  ASSIGN_OR_RETURN(const v1::CandidateReply candidate, Patiently([&] {
                     return client_->Call<v1::GetCandidateRequest, v1::CandidateReply>(
                         &Stub::GetCandidate, which);
                   }));
  v1::EvaluateRequest request;
  request.set_task(run.task());
  *request.mutable_sources() = candidate.sources();
  request.set_kind(v1::JOB_KIND_CONFIRM);
  *request.mutable_plan() = experiment_.common().measure();
  *request.mutable_limits() = experiment_.common().limits();
  request.set_device_model(run.platform().device_model());
  *request.mutable_wait_for_worker() = ToProto(kPatience);
  request.set_salt(absl::StrCat(run.trial().experiment(), "/", run.trial().arm(), "/",
                                run.trial().seed(), "/", candidate_id.substr(0, 16), "/", session));
  const auto once = [&]() -> absl::StatusOr<v1::JobResult> {
    grpc::ClientContext context;
    const auto stream = client_->stub().Evaluate(&context, request);
    v1::EvaluateReply reply;
    std::optional<v1::JobResult> result;
    while (stream->Read(&reply)) {
      if (reply.has_result()) result = reply.result();
    }
    const grpc::Status status = stream->Finish();
    if (!status.ok()) return client_->Explain(FromGrpc(status));
    if (!result.has_value()) {
      return absl::UnavailableError(
          "the coordinator ended the request without a result; run the same command again");
    }
    return *std::move(result);
  };
  v1::JobResult result;
  for (int tries = 0; tries < kSessionTries; ++tries) {
    ASSIGN_OR_RETURN(result, Patiently(once));
    // Says nothing about the candidate; a new request measures it again.
    const bool lost = result.outcome() == v1::OUTCOME_WORKER_LOST ||
                      result.outcome() == v1::OUTCOME_CANCELLED ||
                      result.outcome() == v1::OUTCOME_TASK_ERROR;
    if (!lost) return VerdictOf(result);
  }
  return absl::UnavailableError(absl::StrCat("candidate ", candidate_id.substr(0, 12), " of run ",
                                             run.run_id(),
                                             " could not be measured again: ", result.message()));
}

absl::StatusOr<v1::TrialSummary> ExperimentRunner::Conclude(const v1::RunStatus& listed) {
  // Includes the run's ledger as it is now.
  v1::GetRunRequest which;
  which.set_run_id(listed.run_id());
  ASSIGN_OR_RETURN(const v1::RunStatus run, Patiently([&] {
                     return client_->Call<v1::GetRunRequest, v1::RunStatus>(&Stub::GetRun, which);
                   }));
  ASSIGN_OR_RETURN(const std::vector<v1::RunEvent> events, EventsOf(run.run_id()));
  const v1::Remeasuring& plan = experiment_.remeasuring();
  if (plan.top() == 0) return SummaryOf(run, events);
  struct Judged {
    ScreenedCandidate candidate;
    double first = 0;
  };
  std::set<std::string> flagged;
  const auto session = [&](const std::string& candidate_id,
                           int number) -> absl::StatusOr<std::optional<double>> {
    ASSIGN_OR_RETURN(const SessionVerdict verdict, Session(run, candidate_id, number));
    if (verdict.flagged) flagged.insert(candidate_id);
    return verdict.speedup;
  };
  std::vector<Judged> judged;
  for (const ScreenedCandidate& candidate : BestScreened(events, plan.top())) {
    ASSIGN_OR_RETURN(const std::optional<double> first, session(candidate.candidate_id, 1));
    if (first.has_value()) judged.push_back({candidate, *first});
  }
  std::stable_sort(judged.begin(), judged.end(),
                   [](const Judged& a, const Judged& b) { return a.first > b.first; });
  const Judged* chosen = nullptr;
  std::vector<double> speedups;
  for (size_t i = 0; i < judged.size() && chosen == nullptr; ++i) {
    speedups.clear();
    for (int number = 2; number <= plan.sessions(); ++number) {
      ASSIGN_OR_RETURN(const std::optional<double> speedup,
                       session(judged[i].candidate.candidate_id, number));
      if (!speedup.has_value()) break;
      speedups.push_back(*speedup);
    }
    if (static_cast<int>(speedups.size()) == plan.sessions() - 1) chosen = &judged[i];
  }
  v1::TrialSummary summary = SummaryOf(run, events, flagged);
  if (chosen != nullptr) {
    SetRemeasured(chosen->candidate, speedups, &summary);
  } else {
    SetNothingHeld(&summary);
  }
  return summary;
}

absl::StatusOr<bool> ExperimentRunner::ResumeTrial(const v1::RunStatus& run) {
  const bool may = run.state() == v1::RUN_STATE_STOPPED || run.state() == v1::RUN_STATE_FAILED;
  if (!may || !resumed_.insert(run.run_id()).second) return false;
  v1::ResumeRunRequest request;
  request.set_run_id(run.run_id());
  const auto resumed = Patiently([&] {
    return client_->Call<v1::ResumeRunRequest, v1::RunStatus>(&Stub::ResumeRun, request);
  });
  if (absl::IsFailedPrecondition(resumed.status())) return false;
  if (!resumed.ok()) return resumed.status();
  return true;
}

absl::Status ExperimentRunner::Start(const PlannedTrial& trial) {
  v1::StartRunRequest request;
  request.set_request_id(trial.request_id);
  *request.mutable_config() = trial.config;
  *request.mutable_wait_for_workers() = ToProto(kWaitForWorkers);
  const auto started = Patiently([&] {
    return client_->Call<v1::StartRunRequest, v1::StartRunReply>(
        &Stub::StartRun, request, kWaitForWorkers + absl::Seconds(30));
  });
  if (started.ok()) return absl::OkStatus();
  return WithArm(experiment_, trial.arm, trial.task, started.status());
}

void ExperimentRunner::SayProgress(size_t planned, size_t ended, size_t active, size_t concluded) {
  std::string line = absl::StrCat(ended, " of ", planned, " runs have ended, ", active,
                                  " are at work, ", concluded, " are measured again");
  if (line == said_) return;
  said_ = line;
  say_(line);
}

absl::StatusOr<std::vector<v1::TrialSummary>> ExperimentRunner::Run() {
  std::map<Place, v1::TrialSummary> concluded;
  std::map<Place, std::future<absl::StatusOr<v1::TrialSummary>>> concluding;
  const auto limit = static_cast<size_t>(experiment_.runs_at_once());
  while (true) {
    ASSIGN_OR_RETURN(auto runs, Recorded());
    size_t active = 0, ended = 0;
    unfinished_ = 0;
    std::vector<const PlannedTrial*> missing;
    for (const PlannedTrial& trial : trials_) {
      const Place place = {trial.task, trial.config.trial().arm(), trial.seed};
      const auto run = runs.find(place);
      if (run == runs.end()) {
        missing.push_back(&trial);
        continue;
      }
      if (!HasEnded(run->second.state())) {
        ++active;
        continue;
      }
      ASSIGN_OR_RETURN(const bool again, ResumeTrial(run->second));
      if (again) {
        ++active;
        continue;
      }
      ++ended;
      unfinished_ += run->second.state() == v1::RUN_STATE_FAILED ||
                     run->second.state() == v1::RUN_STATE_STOPPED;
      if (concluded.count(place) == 0 && concluding.count(place) == 0 &&
          concluding.size() < limit) {
        concluding[place] = std::async(std::launch::async,
                                       [this, status = run->second] { return Conclude(status); });
      }
    }
    for (const PlannedTrial* trial : missing) {
      if (active >= limit) break;
      RETURN_IF_ERROR(Start(*trial));
      ++active;
    }
    for (auto it = concluding.begin(); it != concluding.end();) {
      if (it->second.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        ++it;
        continue;
      }
      ASSIGN_OR_RETURN(concluded[it->first], it->second.get());
      it = concluding.erase(it);
    }
    SayProgress(trials_.size(), ended, active, concluded.size());
    if (concluded.size() == trials_.size()) break;
    absl::SleepFor(kPollInterval);
  }
  std::vector<v1::TrialSummary> summaries;
  for (auto& [place, summary] : concluded) summaries.push_back(std::move(summary));
  return summaries;
}

}  // namespace ksearch
