#include "tests/fakes/fake_store.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/task_evidence.h"
#include "common/textproto.h"

namespace ksearch {

void FakeStore::FailWrites(absl::Status status) {
  MutexLock lock(&mu_);
  failure_code_ = status.code();
  failure_message_ = std::string(status.message());
}

std::vector<AttemptRow> FakeStore::attempts() const {
  MutexLock lock(&mu_);
  std::vector<AttemptRow> rows;
  for (const auto& [key, row] : attempts_) rows.push_back(row);
  return rows;
}

int FakeStore::results() const {
  MutexLock lock(&mu_);
  return static_cast<int>(results_.size());
}

void FakeStore::SetArrivalListener(std::function<void(const std::string& run_id)> listener) {
  listener_ = std::move(listener);
}

void FakeStore::SetEventListener(EventListener listener) { event_listener_ = std::move(listener); }

void FakeStore::Tell(const std::vector<std::string>& run_ids) {
  if (!listener_) return;
  for (const std::string& run_id : run_ids) listener_(run_id);
}

absl::StatusOr<FakeStore::Run*> FakeStore::FindRun(const std::string& run_id) {
  const auto it = runs_.find(run_id);
  if (it == runs_.end()) return absl::NotFoundError(absl::StrCat("no run ", run_id));
  return &it->second;
}

bool FakeStore::AddArrival(Run* run, Arrival::Kind kind, const std::string& ref,
                           const std::string& tag) {
  if (!run->arrived_refs.insert(ref).second) return false;
  Arrival arrival;
  arrival.seq = static_cast<int64_t>(run->arrivals.size()) + 1;
  arrival.kind = kind;
  arrival.ref = ref;
  arrival.tag = tag;
  run->arrivals.push_back(std::move(arrival));
  return true;
}

absl::StatusOr<std::string> FakeStore::CreateRun(const RunRow& run) {
  MutexLock lock(&mu_);
  for (const auto& [id, known] : runs_) {
    if (!run.request_id.empty() && known.row.request_id == run.request_id) return id;
  }
  Run& created = runs_[run.run_id];
  created.row = run;
  created.created = static_cast<int>(runs_.size());
  return run.run_id;
}

absl::Status FakeStore::CommitStep(const StepCommit& step) {
  bool arrived = false;
  std::vector<v1::FeedEntry> told;
  {
    MutexLock lock(&mu_);
    if (failure_code_ != absl::StatusCode::kOk) return WriteFailure();
    ASSIGN_OR_RETURN(Run * run, FindRun(step.run_id));
    const std::map<std::string, LedgerRow> ledger = run->ledger;
    const std::map<std::string, LlmCallRow> calls = calls_;
    if (step.caps.has_value()) {
      for (auto& [scope, row] : run->ledger) row.caps = LedgerCaps();
      for (const LedgerCaps& caps : *step.caps) run->ledger[caps.scope].caps = caps;
    }
    for (const std::string& call_id : step.lost_calls) {
      LlmCallRow& call = calls_.at(call_id);
      if (call.answered || call.sent == absl::Time()) continue;
      Settle(run, call, call.reserved_tokens, call.reserved_nano);
      call.admitted = false;
      call.sent = absl::Time();
      ++call.lost_sends;
      call.lost_tokens += std::exchange(call.reserved_tokens, 0);
      call.lost_nano += std::exchange(call.reserved_nano, 0);
    }
    for (const LlmCallRow& call : step.calls) {
      const auto [known, inserted] = calls_.emplace(call.call_id, call);
      if (!inserted && (known->second.admitted || known->second.answered)) continue;
      known->second.admitted = true;
      known->second.reserved_tokens = call.reserved_tokens;
      known->second.reserved_nano = call.reserved_nano;
      if (const absl::Status status = Reserve(run, call); !status.ok()) {
        run->ledger = ledger;
        calls_ = calls;
        return status;
      }
    }
    run->row.cursor = step.cursor;
    run->row.state = step.state;
    run->row.status = step.status;
    if (step.world_model != nullptr) run->models.push_back(*step.world_model);
    for (const CandidateRow& candidate : step.candidates) {
      const auto known = std::find_if(
          run->candidates.begin(), run->candidates.end(),
          [&](const CandidateRow& row) { return row.candidate_id == candidate.candidate_id; });
      if (known == run->candidates.end()) {
        run->candidates.push_back(candidate);
      } else if (!candidate.job_id.empty()) {
        known->job_id = candidate.job_id;
      }
    }
    for (const JobRequestRow& job : step.jobs) {
      jobs_.emplace(job.job_id, job.spec);
      if (run->requests.emplace(job.job_id, job.tag).second && !results_.contains(job.job_id) &&
          IsEvaluation(job.spec.kind())) {
        ++run->ledger[""].evaluations;
      }
      if (results_.contains(job.job_id)) {
        arrived |= AddArrival(run, Arrival::Kind::kResult, job.job_id, job.tag);
      }
    }
    for (const v1::MeasuredGain& gain : step.gains) {
      const bool known =
          std::any_of(gains_.begin(), gains_.end(), [&](const v1::MeasuredGain& other) {
            return other.run_id() == gain.run_id() && other.candidate_id() == gain.candidate_id();
          });
      if (!known) gains_.push_back(gain);
    }
    for (v1::MeasuredGain& gain : gains_) {
      if (gain.run_id() != step.run_id ||
          std::find(step.refused_gains.begin(), step.refused_gains.end(), gain.candidate_id()) ==
              step.refused_gains.end()) {
        continue;
      }
      gain.set_passed(false);
      gain.clear_speedup();
    }
    for (v1::RunEvent event : step.events) {
      event.set_seq(static_cast<int64_t>(run->events.size()) + 1);
      run->events.push_back(event);
      v1::FeedEntry entry;
      entry.set_cursor(static_cast<int64_t>(all_events_.size()) + 1);
      entry.mutable_run()->set_run_id(step.run_id);
      *entry.mutable_run()->mutable_event() = std::move(event);
      all_events_.push_back(entry);
      told.push_back(std::move(entry));
    }
    run->row.status.set_last_event_seq(static_cast<int64_t>(run->events.size()));
    for (v1::FeedEntry& entry : told) *entry.mutable_run()->mutable_status() = run->row.status;
  }
  if (arrived) Tell({step.run_id});
  if (event_listener_ && !told.empty()) event_listener_(told);
  return absl::OkStatus();
}

namespace {

bool Fits(const v1::MeasuredGain& gain, const GainFilter& filter) {
  const auto is = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  const auto is_not = [](const std::string& unwanted, const std::string& value) {
    return unwanted.empty() || unwanted != value;
  };
  return is(filter.run_id, gain.run_id()) && is(filter.task, gain.task()) &&
         is(filter.op_type, gain.op_type()) && is(filter.architecture, gain.architecture()) &&
         is(filter.benchmark, gain.benchmark()) &&
         is_not(filter.not_of_benchmark, gain.benchmark()) &&
         is_not(filter.not_of_experiment, gain.experiment()) &&
         (filter.device == v1::DEVICE_CLASS_UNSPECIFIED || filter.device == gain.device()) &&
         (filter.language == v1::LANGUAGE_UNSPECIFIED || filter.language == gain.language());
}

}  // namespace

absl::StatusOr<std::vector<v1::MeasuredGain>> FakeStore::ReadGains(const GainFilter& filter,
                                                                   int limit) {
  MutexLock lock(&mu_);
  std::vector<v1::MeasuredGain> gains;
  for (auto gain = gains_.rbegin(); gain != gains_.rend(); ++gain) {
    if (limit > 0 && static_cast<int>(gains.size()) == limit) break;
    if (Fits(*gain, filter)) gains.push_back(*gain);
  }
  return gains;
}

absl::StatusOr<int64_t> FakeStore::ForgetGains(const GainFilter& filter) {
  MutexLock lock(&mu_);
  const auto kept = std::remove_if(gains_.begin(), gains_.end(), [&](const v1::MeasuredGain& gain) {
    return Fits(gain, filter);
  });
  const auto forgotten = static_cast<int64_t>(gains_.end() - kept);
  gains_.erase(kept, gains_.end());
  return forgotten;
}

absl::StatusOr<RunRow> FakeStore::ReadRun(const std::string& run_id) {
  ++run_reads_;
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  return run->row;
}

absl::StatusOr<v1::RunStatus> FakeStore::ReadRunStatus(const std::string& run_id) {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  return run->row.status;
}

absl::StatusOr<std::vector<v1::FeedEntry>> FakeStore::ReadAllEvents(int64_t after_cursor,
                                                                    int limit) {
  MutexLock lock(&mu_);
  std::vector<v1::FeedEntry> entries;
  for (const v1::FeedEntry& entry : all_events_) {
    if (limit > 0 && static_cast<int>(entries.size()) == limit) break;
    if (entry.cursor() > after_cursor) entries.push_back(entry);
  }
  return entries;
}

absl::StatusOr<int64_t> FakeStore::ReadNewestCursor() {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(all_events_.size());
}

absl::StatusOr<std::string> FakeStore::ResolveRun(const std::string& prefix) {
  MutexLock lock(&mu_);
  std::vector<std::string> matches;
  const Run* newest = nullptr;
  for (const auto& [id, run] : runs_) {
    if (id == prefix) return id;
    if (absl::StartsWith(id, prefix)) matches.push_back(id);
    if (newest == nullptr || run.created > newest->created) newest = &run;
  }
  if (prefix == "last" && newest != nullptr) return newest->row.run_id;
  if (matches.empty()) return absl::NotFoundError(absl::StrCat("no run ", prefix));
  if (matches.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(prefix, " is ambiguous: ", matches[0], ", ", matches[1]));
  }
  return matches[0];
}

absl::StatusOr<std::vector<v1::RunStatus>> FakeStore::ListRuns() {
  MutexLock lock(&mu_);
  std::vector<const Run*> runs;
  for (const auto& [id, run] : runs_) runs.push_back(&run);
  std::sort(runs.begin(), runs.end(),
            [](const Run* a, const Run* b) { return a->created > b->created; });
  std::vector<v1::RunStatus> statuses;
  for (const Run* run : runs) statuses.push_back(run->row.status);
  return statuses;
}

absl::StatusOr<std::vector<Arrival>> FakeStore::ReadArrivals(const std::string& run_id,
                                                             int64_t after_seq, int limit) {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  std::vector<Arrival> arrivals;
  for (const Arrival& arrival : run->arrivals) {
    if (arrival.seq > after_seq && static_cast<int>(arrivals.size()) < limit) {
      arrivals.push_back(arrival);
    }
  }
  return arrivals;
}

absl::StatusOr<std::vector<v1::RunEvent>> FakeStore::ReadEvents(const std::string& run_id,
                                                                int64_t after_seq, int limit) {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  std::vector<v1::RunEvent> events;
  for (const v1::RunEvent& event : run->events) {
    if (event.seq() > after_seq && static_cast<int>(events.size()) < limit) {
      events.push_back(event);
    }
  }
  return events;
}

absl::StatusOr<v1::WorldModel> FakeStore::ReadWorldModel(const std::string& run_id,
                                                         int64_t revision) {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  for (auto model = run->models.rbegin(); model != run->models.rend(); ++model) {
    if (revision == 0 || model->revision() == revision) return *model;
  }
  return absl::NotFoundError(absl::StrCat(run_id, " has no world model ", revision));
}

absl::StatusOr<CandidateRow> FakeStore::ReadCandidate(const std::string& run_id,
                                                      const std::string& prefix) {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  for (const CandidateRow& candidate : run->candidates) {
    if (absl::StartsWith(candidate.candidate_id, prefix)) return candidate;
  }
  return absl::NotFoundError(absl::StrCat("no candidate ", prefix));
}

absl::StatusOr<std::vector<CandidateRow>> FakeStore::ListCandidates(const std::string& run_id) {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  return run->candidates;
}

absl::Status FakeStore::Reserve(Run* run, const LlmCallRow& call) {
  for (const std::string& scope : {std::string(), absl::StrCat(call.provider, "/", call.model)}) {
    LedgerRow& row = run->ledger[scope];
    row.scope = scope;
    row.calls += 1;
    row.tokens_reserved += call.reserved_tokens;
    row.nano_reserved += call.reserved_nano;
    if (row.calls > row.caps.calls.value_or(row.calls) ||
        row.tokens_spent + row.tokens_reserved > row.caps.tokens.value_or(INT64_MAX) ||
        row.nano_spent + row.nano_reserved > row.caps.nano_usd.value_or(INT64_MAX)) {
      return absl::OutOfRangeError(absl::StrCat(call.call_id, " does not fit"));
    }
  }
  return absl::OkStatus();
}

void FakeStore::Settle(Run* run, const LlmCallRow& reserved, int64_t tokens, int64_t nano) {
  for (const std::string& scope :
       {std::string(), absl::StrCat(reserved.provider, "/", reserved.model)}) {
    LedgerRow& row = run->ledger[scope];
    row.scope = scope;
    row.tokens_reserved -= reserved.reserved_tokens;
    row.nano_reserved -= reserved.reserved_nano;
    row.tokens_spent += tokens;
    row.nano_spent += nano;
  }
}

absl::StatusOr<std::vector<LedgerRow>> FakeStore::ReadLedger(const std::string& run_id) {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  run->ledger[""].scope = "";
  std::vector<LedgerRow> rows;
  for (const auto& [scope, row] : run->ledger) {
    rows.push_back(row);
    rows.back().scope = scope;
  }
  return rows;
}

void FakeStore::RecordSend(const std::string& call_id,
                           absl::AnyInvocable<void(absl::Status)> done) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    status = WriteFailure();
    const auto it = calls_.find(call_id);
    if (status.ok() && (it == calls_.end() || it->second.answered)) {
      status = absl::NotFoundError(absl::StrCat("no call ", call_id, " without an answer"));
    }
    if (status.ok()) it->second.sent = absl::FromUnixSeconds(1);
  }
  done(status);
}

void FakeStore::RecordReply(const LlmCallRow& call, absl::AnyInvocable<void(absl::Status)> done) {
  std::optional<std::string> arrived;
  absl::Status status;
  {
    MutexLock lock(&mu_);
    status = WriteFailure();
    if (status.ok()) {
      LlmCallRow& row = calls_[call.call_id];
      const auto run = runs_.find(call.run_id);
      if (!row.answered) {
        if (run != runs_.end()) Settle(&run->second, row, call.counted_tokens, call.cost_nano);
        const LlmCallRow kept = std::exchange(row, call);
        row.answered = true;
        row.lost_sends = kept.lost_sends;
        row.lost_tokens = kept.lost_tokens;
        row.lost_nano = kept.lost_nano;
      }
      if (run != runs_.end() && AddArrival(&run->second, Arrival::Kind::kReply, call.call_id, "")) {
        arrived = call.run_id;
      }
    }
  }
  if (done) done(status);
  if (arrived.has_value()) Tell({*arrived});
}

void FakeStore::SaveProviderState(const std::string& call_id, const std::string& state,
                                  absl::AnyInvocable<void(absl::Status)> done) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    status = WriteFailure();
    const auto call = calls_.find(call_id);
    if (status.ok() && call == calls_.end()) {
      status = absl::NotFoundError(absl::StrCat("no call ", call_id));
    }
    if (status.ok() && !call->second.answered) call->second.provider_state = state;
  }
  done(std::move(status));
}

absl::StatusOr<LlmCallRow> FakeStore::ReadCall(const std::string& call_id) {
  MutexLock lock(&mu_);
  const auto it = calls_.find(call_id);
  if (it == calls_.end()) return absl::NotFoundError(absl::StrCat("no call ", call_id));
  return it->second;
}

absl::StatusOr<std::vector<LlmCallRow>> FakeStore::ReadUnansweredCalls(const std::string& run_id) {
  MutexLock lock(&mu_);
  std::vector<LlmCallRow> rows;
  for (const auto& [id, call] : calls_) {
    if (call.run_id == run_id && !call.answered) rows.push_back(call);
  }
  return rows;
}

absl::Status FakeStore::AddJob(const std::string& job_id, const v1::JobSpec& spec) {
  MutexLock lock(&mu_);
  jobs_.emplace(job_id, spec);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<QueuedJob>> FakeStore::ReadUnfinishedJobs() {
  MutexLock lock(&mu_);
  std::vector<QueuedJob> jobs;
  for (const auto& [id, spec] : jobs_) {
    if (results_.contains(id)) continue;
    QueuedJob job;
    job.job_id = id;
    job.spec = spec;
    for (const auto& [key, attempt] : attempts_) {
      if (key.first != id) continue;
      if (attempt.ended != "cancelled") ++job.attempts;
      job.worker_of_lease[attempt.lease_id] = attempt.worker_id;
    }
    for (const auto& [run_id, run] : runs_) {
      if (run.requests.contains(id)) job.run_ids.push_back(run_id);
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void FakeStore::RecordResult(
    const v1::JobResult& result, const std::string& lease_id,
    absl::AnyInvocable<void(absl::StatusOr<v1::RecordResultReply::Disposition>)> done) {
  absl::StatusOr<v1::RecordResultReply::Disposition> disposition = v1::RecordResultReply::RECORDED;
  std::vector<std::string> arrived;
  {
    MutexLock lock(&mu_);
    if (failure_code_ != absl::StatusCode::kOk) {
      disposition = WriteFailure();
    } else if (!jobs_.contains(result.job_id())) {
      disposition = v1::RecordResultReply::UNKNOWN_JOB;
    } else if (!results_.emplace(result.job_id(), result).second) {
      disposition = v1::RecordResultReply::ALREADY_RECORDED;
    } else {
      result_order_.push_back(result.job_id());
      NoteTaskEvidence(result);
      for (auto& [key, attempt] : attempts_) {
        if (attempt.lease_id == lease_id && attempt.ended.empty()) attempt.ended = "recorded";
      }
      for (auto& [id, run] : runs_) {
        const auto request = run.requests.find(result.job_id());
        if (request != run.requests.end()) {
          run.ledger[""].device_us +=
              absl::ToInt64Microseconds(FromProto(result.stage_times().device_held()));
          run.ledger[""].device_nano += result.device_nano_usd();
        }
        if (request != run.requests.end() &&
            AddArrival(&run, Arrival::Kind::kResult, result.job_id(), request->second)) {
          arrived.push_back(id);
        }
      }
    }
  }
  if (done) done(disposition);
  Tell(arrived);
}

void FakeStore::NoteTaskEvidence(const v1::JobResult& result) {
  if (result.worker_id().empty()) return;
  const v1::JobSpec& spec = jobs_.at(result.job_id());
  const TaskEvidence evidence = EvidenceOf(spec, result);
  if (evidence == TaskEvidence::kFaulty) task_faults_[EvidenceKey(spec)] = {spec, result};
  if (evidence == TaskEvidence::kWorks) task_faults_.erase(EvidenceKey(spec));
}

absl::StatusOr<std::vector<TaskFaultRow>> FakeStore::ReadTaskFaults() {
  MutexLock lock(&mu_);
  std::vector<TaskFaultRow> faults;
  for (const auto& [key, fault] : task_faults_) faults.push_back(fault);
  return faults;
}

void FakeStore::RecordAttempt(const AttemptRow& attempt,
                              absl::AnyInvocable<void(absl::Status)> done) {
  {
    MutexLock lock(&mu_);
    AttemptRow& row = attempts_[{attempt.job_id, attempt.lease_id}];
    if (row.ended.empty()) row = attempt;  // the first ending stays
  }
  if (done) done(absl::OkStatus());
}

absl::StatusOr<std::optional<v1::JobResult>> FakeStore::ReadResult(const std::string& job_id) {
  MutexLock lock(&mu_);
  const auto it = results_.find(job_id);
  if (it == results_.end()) return std::optional<v1::JobResult>();
  return std::optional<v1::JobResult>(it->second);
}

absl::StatusOr<v1::JobSpec> FakeStore::ReadJob(const std::string& job_id) {
  MutexLock lock(&mu_);
  const auto it = jobs_.find(job_id);
  if (it == jobs_.end()) return absl::NotFoundError(absl::StrCat("no job ", job_id));
  return it->second;
}

absl::StatusOr<std::vector<ResultRow>> FakeStore::ListResults(const std::string& task_name,
                                                              int64_t before, int limit) {
  MutexLock lock(&mu_);
  std::vector<ResultRow> rows;
  for (size_t number = result_order_.size(); number > 0; --number) {
    const std::string& job_id = result_order_[number - 1];
    const bool beyond = before > 0 && static_cast<int64_t>(number) >= before;
    if (beyond || (limit > 0 && rows.size() >= static_cast<size_t>(limit))) continue;
    if (!task_name.empty() && jobs_.at(job_id).task_name() != task_name) continue;
    ResultRow& row = rows.emplace_back();
    row.number = static_cast<int64_t>(number);
    row.job_id = job_id;
    row.spec = jobs_.at(job_id);
    row.outcome = results_.at(job_id).outcome();
  }
  return rows;
}

absl::StatusOr<std::vector<v1::JobResult>> FakeStore::ReadResultsOf(
    const std::string& run_id, const std::string& candidate_id) {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(Run * run, FindRun(run_id));
  std::vector<v1::JobResult> results;
  for (const Arrival& arrival : run->arrivals) {
    if (arrival.kind != Arrival::Kind::kResult) continue;
    for (const CandidateRow& candidate : run->candidates) {
      if (candidate.candidate_id == candidate_id && candidate.job_id == arrival.ref) {
        results.push_back(results_.at(arrival.ref));
      }
    }
  }
  return results;
}

absl::Status FakeStore::PutBlob(const std::string& sha256, const std::string& bytes) {
  MutexLock lock(&mu_);
  blobs_.emplace(sha256, bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::string> FakeStore::ReadBlob(const std::string& sha256) {
  MutexLock lock(&mu_);
  const auto it = blobs_.find(sha256);
  if (it == blobs_.end()) return absl::NotFoundError(absl::StrCat("no blob ", sha256));
  return it->second;
}

absl::Status FakeStore::UpsertWorker(const v1::WorkerHello& hello, const std::string& owner,
                                     absl::Time seen) {
  MutexLock lock(&mu_);
  owners_[hello.worker_id()] = owner;
  v1::WorkerStatus& status = workers_[hello.worker_id()];
  status.set_worker_id(hello.worker_id());
  status.set_name(hello.name());
  *status.mutable_hello() = hello;
  *status.mutable_last_report_at() = ToProto(seen);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::WorkerStatus>> FakeStore::ListWorkers() {
  MutexLock lock(&mu_);
  std::vector<v1::WorkerStatus> workers;
  for (const auto& [id, status] : workers_) workers.push_back(status);
  return workers;
}

absl::StatusOr<std::map<std::string, std::string>> FakeStore::ReadWorkerOwners() {
  MutexLock lock(&mu_);
  std::map<std::string, std::string> owners = owners_;
  std::erase_if(owners, [](const auto& entry) { return entry.second.empty(); });
  return owners;
}

absl::StatusOr<bool> FakeStore::RemoveRun(const std::string& /*run_id*/,
                                          int64_t /*last_event_seq*/) {
  return absl::UnimplementedError("a fake store removes nothing");
}

absl::Status FakeStore::RemoveBlobs(const std::vector<std::string>& /*names*/) {
  return absl::UnimplementedError("a fake store removes nothing");
}

absl::Status FakeStore::Backup(const std::string& /*path*/) { return absl::OkStatus(); }

}  // namespace ksearch
