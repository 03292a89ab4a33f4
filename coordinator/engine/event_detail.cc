#include "coordinator/engine/event_detail.h"

#include <algorithm>
#include <cmath>

#include "common/run_facts.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::optional<CandidateRow> FindCandidate(Store* store, const StepFacts& facts,
                                          const std::string& candidate_id) {
  const auto added =
      std::find_if(facts.candidates->begin(), facts.candidates->end(),
                   [&](const CandidateRow& row) { return row.candidate_id == candidate_id; });
  if (added != facts.candidates->end()) return *added;
  auto stored = store->ReadCandidate(facts.status->run_id(), candidate_id);
  if (!stored.ok()) return std::nullopt;
  return *std::move(stored);
}

// The result that the event names.
std::optional<v1::JobResult> FindResult(Store* store, const StepFacts& facts,
                                        const v1::RunEvent& event) {
  if (event.job_id().empty()) return std::nullopt;
  if (facts.cause->result.has_value() && facts.cause->result->job_id() == event.job_id()) {
    return facts.cause->result;
  }
  auto stored = store->ReadResult(event.job_id());
  return stored.ok() ? *std::move(stored) : std::nullopt;
}

void FillCall(Store* store, const StepFacts& facts, const std::string& call_id,
              v1::RunEvent* event) {
  if (facts.cause->call.has_value() && facts.cause->call->call_id == call_id) {
    *event->mutable_call() = DetailOf(*facts.cause->call);
  } else if (const auto stored = store->ReadCall(call_id); stored.ok()) {
    *event->mutable_call() = DetailOf(*stored);
  }
}

// Geometric mean of the medians of the workloads timed.
double LatencyOf(const v1::JobResult& result) {
  double sum_of_logs = 0;
  int timed = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    if (!(workload.candidate().median_us() > 0)) continue;
    sum_of_logs += std::log(workload.candidate().median_us());
    ++timed;
  }
  return timed == 0 ? 0 : std::exp(sum_of_logs / timed);
}

// The fields that both kinds of detail have.
template <typename Detail>
void FillMeasured(const v1::JobResult& result, Detail* detail) {
  detail->set_outcome(result.outcome());
  if (result.stage_times().has_device_held()) {
    *detail->mutable_device_time() = result.stage_times().device_held();
  }
  detail->set_device_name(result.device().name());
  detail->set_worker_id(result.worker_id());
}

void FillCandidate(const CandidateRow* row, const std::optional<v1::JobResult>& result,
                   v1::CandidateDetail* detail) {
  if (row != nullptr) {
    if (!row->parent_candidate_id.empty()) detail->add_parent_ids(row->parent_candidate_id);
    detail->set_attempt(row->attempt);
    detail->set_language(row->sources.language());
  }
  if (!result.has_value()) return;
  FillMeasured(*result, detail);
  detail->set_latency_us(LatencyOf(*result));
  detail->set_speedup(SpeedupOverBaseline(*result).value_or(0));
}

void FillConfirmation(const CandidateRow* row, const std::optional<v1::JobResult>& result,
                      const v1::RunStatus& status, v1::ConfirmationDetail* detail) {
  if (row != nullptr && !row->parent_candidate_id.empty()) {
    detail->add_parent_ids(row->parent_candidate_id);
  }
  if (!result.has_value()) {
    detail->set_rival_id(status.has_best() ? status.best().candidate_id() : kBaselineRival);
    return;
  }
  FillMeasured(*result, detail);
  const v1::Comparison* over_rival = nullptr;
  for (const v1::Comparison& comparison : result->comparisons()) {
    if (comparison.rival_id() == kBaselineRival) {
      detail->set_over_baseline(std::exp(comparison.log_speedup()));
      detail->set_over_baseline_low(std::exp(comparison.ci_low()));
      detail->set_over_baseline_high(std::exp(comparison.ci_high()));
    }
    // The incumbent, if there is one.
    if (over_rival == nullptr || over_rival->rival_id() == kBaselineRival) over_rival = &comparison;
  }
  if (over_rival == nullptr) return;
  detail->set_rival_id(over_rival->rival_id());
  detail->set_verdict(over_rival->verdict());
  detail->set_speedup(std::exp(over_rival->log_speedup()));
  detail->set_speedup_low(std::exp(over_rival->ci_low()));
  detail->set_speedup_high(std::exp(over_rival->ci_high()));
}

void FillNode(const v1::WorldModel* model, const std::string& node_id, v1::NodeDetail* detail) {
  if (model == nullptr) return;
  const auto node = std::find_if(model->nodes().begin(), model->nodes().end(),
                                 [&](const v1::Node& each) { return each.node_id() == node_id; });
  if (node == model->nodes().end()) return detail->set_gone(true);
  detail->set_parent_node_id(node->parent_id());
  detail->set_title(node->action().title());
  detail->set_score(node->action().score());
  detail->set_difficulty(node->action().difficulty());
}

void FillTotals(const v1::RunStatus& status, v1::RunDetail* detail) {
  detail->set_rounds_done(status.rounds_done());
  detail->set_llm_calls(status.llm_calls());
  detail->set_input_tokens(status.input_tokens());
  detail->set_output_tokens(status.output_tokens());
  const v1::Ledger& ledger = status.ledger();
  if (ledger.lines_size() > 0) detail->set_nano_usd(ledger.lines(0).nano_usd_spent());
  detail->set_evaluations(ledger.evaluations());
  *detail->mutable_device_time() = ledger.gpu_time();
  *detail->mutable_wall_time() = ledger.wall_time();
}

void FillRun(const v1::RunStatus& status, v1::RunDetail* detail) {
  FillTotals(status, detail);
  detail->set_state(status.state());
  detail->set_rounds_total(status.rounds_total());
}

}  // namespace

v1::CallDetail DetailOf(const LlmCallRow& call) {
  v1::CallDetail detail;
  detail.set_call_id(call.call_id);
  detail.set_role(call.role);
  detail.set_purpose(call.purpose);
  detail.set_provider(call.provider);
  detail.set_model(call.model);
  detail.set_input_tokens(call.input_tokens);
  detail.set_output_tokens(call.output_tokens);
  detail.set_nano_usd(call.cost_nano);
  *detail.mutable_took() = ToProto(std::max(call.replied - call.created, absl::ZeroDuration()));
  return detail;
}

void FillEventDetail(Store* store, const StepFacts& facts, v1::RunEvent* event) {
  const bool about_run = event->kind() == v1::RunEvent::RUN_STARTED ||
                         event->kind() == v1::RunEvent::RUN_RESUMED ||
                         event->kind() == v1::RunEvent::RUN_ENDED ||
                         event->kind() == v1::RunEvent::WORLD_MODEL_READY ||
                         event->kind() == v1::RunEvent::BUDGET_WARNING;
  const bool of_confirmation = event->kind() == v1::RunEvent::CONFIRMATION_STARTED ||
                               event->kind() == v1::RunEvent::CONFIRMATION_REFUSED ||
                               event->kind() == v1::RunEvent::NEW_INCUMBENT;
  if (!event->candidate_id().empty() && !about_run) {
    const std::optional<CandidateRow> row = FindCandidate(store, facts, event->candidate_id());
    const CandidateRow* const known = row.has_value() ? &*row : nullptr;
    const std::optional<v1::JobResult> result = FindResult(store, facts, *event);
    if (of_confirmation) {
      FillConfirmation(known, result, *facts.status, event->mutable_confirmation());
    } else {
      FillCandidate(known, result, event->mutable_candidate());
      const bool judged = event->kind() == v1::RunEvent::CANDIDATE_PASSED ||
                          event->kind() == v1::RunEvent::CANDIDATE_FAILED;
      if (judged) FillTotals(*facts.status, event->mutable_totals());
    }
    if (known != nullptr && !known->call_id.empty()) FillCall(store, facts, known->call_id, event);
    return;
  }
  if (!event->node_id().empty() && !about_run) {
    FillNode(facts.world_model, event->node_id(), event->mutable_node());
  } else {
    FillRun(*facts.status, event->mutable_run());
  }
  if (facts.cause->call.has_value()) *event->mutable_call() = DetailOf(*facts.cause->call);
}

}  // namespace ksearch
