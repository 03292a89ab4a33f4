#include "coordinator/engine/run_timeline.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/engine/event_detail.h"

namespace ksearch {
namespace {

absl::Status ReaderWentAway() { return absl::CancelledError("the reader went away"); }

v1::TimedCall TimesOf(const LlmCallRow& row) {
  v1::TimedCall call;
  *call.mutable_call() = DetailOf(row);
  if (!row.answered) call.mutable_call()->clear_took();
  call.set_node_id(row.node_id);
  call.set_cycle(row.cycle);
  call.set_attempt(row.attempt);
  *call.mutable_created_at() = ToProto(row.created);
  if (row.sent > absl::UnixEpoch()) *call.mutable_sent_at() = ToProto(row.sent);
  if (row.answered) *call.mutable_answered_at() = ToProto(row.replied);
  call.set_error(row.error);
  return call;
}

v1::TimedLease TimesOf(const v1::JobResult& result, const v1::JobSpec& spec) {
  v1::TimedLease lease;
  lease.set_job_id(result.job_id());
  lease.set_kind(spec.kind());
  lease.set_candidate_id(CandidateId(spec.candidate()));
  lease.set_worker_id(result.worker_id());
  lease.set_attempt(result.attempt());
  // From the worker's clock, by which it reported end and duration.
  *lease.mutable_started_at() =
      ToProto(FromProto(result.finished_at()) - FromProto(result.stage_times().total()));
  *lease.mutable_ended_at() = result.finished_at();
  *lease.mutable_finished_at() = result.finished_at();
  lease.set_ended("recorded");
  lease.set_outcome(result.outcome());
  *lease.mutable_stages() = result.stage_times();
  lease.set_device_id(result.device().device_id());
  return lease;
}

absl::Status WriteCalls(Store* store, const RunRow& run,
                        const std::function<bool(const v1::TimelineEntry&)>& write) {
  for (int number = 1;; ++number) {
    const auto call = store->ReadCall(absl::StrCat(run.run_id, "/", number));
    if (absl::IsNotFound(call.status())) {
      if (number > run.status.llm_calls()) return absl::OkStatus();
      continue;
    }
    RETURN_IF_ERROR(call.status());
    v1::TimelineEntry entry;
    *entry.mutable_call() = TimesOf(*call);
    if (!write(entry)) return ReaderWentAway();
  }
}

absl::Status WriteLeases(Store* store, const RunRow& run,
                         const std::function<bool(const v1::TimelineEntry&)>& write) {
  std::map<std::string, std::string> names;  // of workers
  ASSIGN_OR_RETURN(const std::vector<v1::WorkerStatus> workers, store->ListWorkers());
  for (const v1::WorkerStatus& worker : workers) names[worker.worker_id()] = worker.name();
  std::set<std::string> seen;
  int64_t after = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<Arrival> arrivals,
                     store->ReadArrivals(run.run_id, after, 1000));
    if (arrivals.empty()) return absl::OkStatus();
    after = arrivals.back().seq;
    for (const Arrival& arrival : arrivals) {
      if (arrival.kind != Arrival::Kind::kResult || !seen.insert(arrival.ref).second) continue;
      ASSIGN_OR_RETURN(const auto result, store->ReadResult(arrival.ref));
      if (!result.has_value() || result->worker_id().empty() ||
          FromProto(result->finished_at()) < FromProto(run.status.started_at())) {
        continue;
      }
      ASSIGN_OR_RETURN(const v1::JobSpec spec, store->ReadJob(arrival.ref));
      v1::TimelineEntry entry;
      *entry.mutable_lease() = TimesOf(*result, spec);
      entry.mutable_lease()->set_tag(arrival.tag);
      entry.mutable_lease()->set_worker_name(names[result->worker_id()]);
      if (!write(entry)) return ReaderWentAway();
    }
  }
}

}  // namespace

absl::Status ReadTimeline(Store* store, const std::string& run_id,
                          const std::function<bool(const v1::TimelineEntry&)>& write) {
  ASSIGN_OR_RETURN(const RunRow run, store->ReadRun(run_id));
  RETURN_IF_ERROR(WriteCalls(store, run, write));
  return WriteLeases(store, run, write);
}

}  // namespace ksearch
