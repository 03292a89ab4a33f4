#include "coordinator/engine/run_recording.h"

#include <future>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/engine/arrival_order.h"

namespace ksearch {
namespace {

v1::RecordedCall AsRecorded(const LlmCallRow& row, int64_t number) {
  v1::RecordedCall call;
  call.set_number(number);
  call.set_purpose(row.purpose);
  call.set_node(row.node_id);
  call.set_attempt(row.attempt);
  call.set_cycle(row.cycle);
  call.set_provider(row.provider);
  call.set_model(row.model);
  call.set_system(row.system);
  call.set_user(row.prompt);
  call.set_max_output_tokens(row.max_output_tokens);
  call.set_reasoning_effort(row.reasoning_effort);
  call.set_reply(row.reply);
  call.set_finish_reason(row.finish_reason);
  call.set_reply_model(row.reply_model);
  call.set_input_tokens(row.input_tokens);
  call.set_output_tokens(row.output_tokens);
  call.set_error(row.error);
  call.set_key(RequestKey(call));
  return call;
}

// Every result that came for the run, in the order of first arrival.
absl::StatusOr<std::vector<std::string>> JobsWithResults(Store* store, const std::string& run_id) {
  std::vector<std::string> jobs;
  std::set<std::string> seen;
  int64_t after = 0;
  while (true) {
    ASSIGN_OR_RETURN(const auto arrivals, store->ReadArrivals(run_id, after, 1000));
    if (arrivals.empty()) return jobs;
    for (const Arrival& arrival : arrivals) {
      if (arrival.kind == Arrival::Kind::kResult && seen.insert(arrival.ref).second) {
        jobs.push_back(arrival.ref);
      }
    }
    after = arrivals.back().seq;
  }
}

}  // namespace

absl::Status RecordRun(Store* store, const std::string& run_id, bool with_results, absl::Time now,
                       const std::function<bool(const v1::RecordedLine&)>& write) {
  ASSIGN_OR_RETURN(const RunRow run, store->ReadRun(run_id));
  v1::RecordedLine line;
  v1::RecordedHeader* header = line.mutable_header();
  header->set_version(1);
  header->set_run_id(run_id);
  *header->mutable_config() = run.config;
  // Their content is recorded as seed_solution and initial_tree.
  header->mutable_config()->clear_continue_from_solution();
  header->mutable_config()->clear_continue_from_world_model();
  header->mutable_config()->clear_platform();
  if (run.status.has_platform()) {
    *header->mutable_config()->mutable_platform() = run.status.platform();
  }
  *header->mutable_recorded_at() = ToProto(now);
  ASSIGN_OR_RETURN(const std::vector<std::string> order, RecordedOrder(store, run_id));
  header->mutable_order()->Assign(order.begin(), order.end());
  if (!write(line)) return absl::CancelledError("the reader went away");
  for (int number = 1; number <= run.status.llm_calls(); ++number) {
    const auto call = store->ReadCall(absl::StrCat(run_id, "/", number));
    if (absl::IsNotFound(call.status())) continue;
    if (!call.ok()) return call.status();
    if (!call->answered) continue;
    *line.mutable_call() = AsRecorded(*call, number);
    if (!write(line)) return absl::CancelledError("the reader went away");
  }
  if (!with_results) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> jobs, JobsWithResults(store, run_id));
  for (const std::string& job_id : jobs) {
    ASSIGN_OR_RETURN(const auto result, store->ReadResult(job_id));
    if (!result.has_value()) continue;
    v1::RecordedJob* job = line.mutable_job();
    job->set_job_id(job_id);
    ASSIGN_OR_RETURN(*job->mutable_spec(), store->ReadJob(job_id));
    job->set_result(result->SerializeAsString());
    if (!write(line)) return absl::CancelledError("the reader went away");
  }
  return absl::OkStatus();
}

absl::Status ImportResults(const Recording& recording, Store* store) {
  for (const v1::RecordedJob& job : recording.jobs) {
    v1::JobResult result;
    if (!result.ParseFromString(job.result()) || !IsJobName(job.job_id(), job.spec()) ||
        result.job_id() != job.job_id()) {
      return absl::InvalidArgumentError(
          absl::StrCat("recorded job ", job.job_id(), " is not what its id says"));
    }
    ASSIGN_OR_RETURN(const auto known, store->ReadResult(job.job_id()));
    if (known.has_value()) continue;
    RETURN_IF_ERROR(store->AddJob(job.job_id(), job.spec()));
    std::promise<absl::Status> recorded;
    store->RecordResult(result, "", [&recorded](const auto& disposition) {
      recorded.set_value(disposition.status());
    });
    RETURN_IF_ERROR(recorded.get_future().get());
  }
  return absl::OkStatus();
}

}  // namespace ksearch
