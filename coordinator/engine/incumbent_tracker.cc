#include "coordinator/engine/incumbent_tracker.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/run_facts.h"
#include "common/suspicion.h"
#include "coordinator/search/score.h"

namespace ksearch {
namespace {

// Challengers kept in the queue; a search that floods it only loses its weakest.
constexpr int kMaxWaiting = 16;

// The share of the run's error for its n-th confirmation: all of them sum up to 1.
double ShareOf(int n) { return 6 / (M_PI * M_PI * n * n); }

// The workload that makes a comparison MIXED.
std::string SlowestText(const v1::Comparison& comparison) {
  const auto& workloads = comparison.workloads();
  const auto worst = absl::c_min_element(
      workloads, [](const auto& a, const auto& b) { return a.ci_high() < b.ci_high(); });
  if (comparison.verdict() != v1::Comparison::MIXED || worst == workloads.end()) return "";
  return absl::StrFormat(", but %.2fx on %s", std::exp(worst->log_speedup()),
                         worst->held_out() ? "a held-out workload" : worst->workload_uuid());
}

v1::RunEvent EventAbout(v1::RunEvent::Kind kind, const v1::IncumbentState::Challenger& challenger) {
  v1::RunEvent event;
  event.set_kind(kind);
  event.set_candidate_id(challenger.candidate_id());
  event.set_node_id(challenger.node_id());
  event.set_round(challenger.round());
  event.set_score(challenger.score());
  return event;
}

}  // namespace

IncumbentTracker::Step IncumbentTracker::OnScreened(const v1::JobResult& result,
                                                    const std::string& candidate_id,
                                                    const std::string& node_id, int round,
                                                    double score) {
  Step step;
  const bool in_line =
      std::any_of(state_.waiting().begin(), state_.waiting().end(),
                  [&](const auto& waiting) { return waiting.candidate_id() == candidate_id; });
  const bool settled = std::find(state_.settled().begin(), state_.settled().end(), candidate_id) !=
                       state_.settled().end();
  if (result.outcome() != v1::OUTCOME_PASSED || in_line || settled || IsRefused(candidate_id) ||
      state_.confirming().candidate_id() == candidate_id) {
    return step;
  }
  v1::IncumbentState::Challenger challenger;
  challenger.set_candidate_id(candidate_id);
  challenger.set_score(score);
  challenger.set_node_id(node_id);
  challenger.set_round(round);
  if (std::string suspicion = SuspicionText(result); !suspicion.empty()) {
    v1::RunEvent event = EventAbout(v1::RunEvent::CONFIRMATION_REFUSED, challenger);
    event.set_text(std::move(suspicion));
    step.events.push_back(event);
    return step;
  }
  PutInLine(challenger);
  StartNext(&step);
  return step;
}

void IncumbentTracker::Refuse(const std::string& candidate_id) {
  if (IsRefused(candidate_id)) return;
  state_.add_refused(candidate_id);
  auto* waiting = state_.mutable_waiting();
  waiting->erase(std::remove_if(waiting->begin(), waiting->end(),
                                [&](const v1::IncumbentState::Challenger& challenger) {
                                  return challenger.candidate_id() == candidate_id;
                                }),
                 waiting->end());
}

bool IncumbentTracker::IsRefused(const std::string& candidate_id) const {
  return absl::c_linear_search(state_.refused(), candidate_id);
}

void IncumbentTracker::PutInLine(const v1::IncumbentState::Challenger& challenger) {
  *state_.add_waiting() = challenger;
  std::stable_sort(state_.mutable_waiting()->begin(), state_.mutable_waiting()->end(),
                   [](const auto& a, const auto& b) { return a.score() > b.score(); });
  while (state_.waiting_size() > kMaxWaiting) state_.mutable_waiting()->RemoveLast();
}

IncumbentTracker::Step IncumbentTracker::OnConfirmed(const std::string& tag,
                                                     const v1::JobResult& result) {
  Step step;
  if (!busy() || tag != state_.confirming_tag()) return step;
  const v1::IncumbentState::Challenger challenger = state_.confirming();
  const bool first = state_.incumbent().candidate_id().empty();
  const std::string rival = first ? kBaselineRival : state_.incumbent().candidate_id();
  state_.clear_confirming();
  state_.clear_confirming_tag();
  const double share = state_.confirming_share();
  state_.clear_confirming_share();
  const bool lost_before = std::find(state_.lost().begin(), state_.lost().end(),
                                     challenger.candidate_id()) != state_.lost().end();
  const bool refused = IsRefused(challenger.candidate_id());
  if (IsInfrastructureOutcome(result.outcome()) && !lost_before && !refused) {
    state_.add_lost(challenger.candidate_id());
    v1::RunEvent event = EventAbout(v1::RunEvent::NOTE, challenger);
    event.set_job_id(result.job_id());
    event.set_text(absl::StrCat("confirmation to be tried once more: ",
                                OutcomeWord(result.outcome()), ": ", result.message()));
    step.events.push_back(event);
    state_.set_carried_share(share);
    PutInLine(challenger);
    StartNext(&step);
    return step;
  }
  state_.add_settled(challenger.candidate_id());

  const v1::Comparison* over_rival = FindComparison(result, rival);
  const v1::Comparison* over_baseline = OverBaseline(result);
  v1::RunEvent event = EventAbout(v1::RunEvent::CONFIRMATION_REFUSED, challenger);
  event.set_job_id(result.job_id());
  // Spent only by a comparison that might have called the challenger improved and did not.
  state_.set_carried_share(share);
  if (result.outcome() != v1::OUTCOME_PASSED) {
    event.set_text(absl::StrCat(OutcomeWord(result.outcome()), ": ", result.message()));
  } else if (std::string suspicion = SuspicionText(result); !suspicion.empty()) {
    event.set_text(std::move(suspicion));
  } else if (refused) {
    event.set_text("its examination refused it");
  } else if (over_rival == nullptr || over_baseline == nullptr) {
    event.set_text(absl::StrCat("the result lacks a comparison with ", rival));
  } else if (over_rival->verdict() != v1::Comparison::IMPROVED) {
    state_.clear_carried_share();
    event.set_text(absl::StrCat(
        v1::Comparison::Verdict_Name(over_rival->verdict()), ": ", RatioText(*over_rival), " over ",
        first ? "the baseline" : "the incumbent", SlowestText(*over_rival)));
  } else {
    *state_.mutable_incumbent() = challenger;
    *state_.mutable_over_baseline() = *over_baseline;
    state_.set_confirmation_job_id(result.job_id());
    event.set_kind(v1::RunEvent::NEW_INCUMBENT);
    event.set_score(std::exp(over_baseline->log_speedup()));
    event.set_text(absl::StrCat(
        RatioText(*over_baseline), " over the baseline",
        first ? "" : absl::StrCat(", ", RatioText(*over_rival), " over the incumbent before")));
  }
  step.events.push_back(event);
  StartNext(&step);
  return step;
}

void IncumbentTracker::StartNext(Step* step) {
  if (busy() || state_.waiting_size() == 0) return;
  const bool first = state_.incumbent().candidate_id().empty();
  const double bar = (first ? 1.0 : state_.incumbent().score()) * (1 + min_gain_);
  const v1::IncumbentState::Challenger challenger = state_.waiting(0);
  if (challenger.score() <= bar) {
    state_.clear_waiting();  // sorted by score: no other challenger looks faster
    return;
  }
  state_.mutable_waiting()->DeleteSubrange(0, 1);
  *state_.mutable_confirming() = challenger;
  state_.set_confirmations(state_.confirmations() + 1);
  state_.set_confirming_tag(absl::StrCat("confirm/", state_.confirmations()));
  state_.set_confirming_share(state_.carried_share() + ShareOf(state_.confirmations()));
  state_.clear_carried_share();
  step->start = Confirmation{state_.confirming_tag(), challenger.candidate_id(),
                             state_.incumbent().candidate_id(), state_.confirming_share()};
  v1::RunEvent event = EventAbout(v1::RunEvent::CONFIRMATION_STARTED, challenger);
  event.set_text(absl::StrFormat("screened at %.2fx of the baseline", challenger.score()));
  step->events.push_back(event);
}

std::optional<v1::BestSummary> IncumbentTracker::best() const {
  if (state_.incumbent().candidate_id().empty()) return std::nullopt;
  v1::BestSummary best;
  best.set_candidate_id(state_.incumbent().candidate_id());
  best.set_node_id(state_.incumbent().node_id());
  best.set_round(state_.incumbent().round());
  best.set_speedup(std::exp(state_.over_baseline().log_speedup()));
  best.set_speedup_low(std::exp(state_.over_baseline().ci_low()));
  best.set_speedup_high(std::exp(state_.over_baseline().ci_high()));
  best.set_confidence(state_.over_baseline().confidence());
  return best;
}

}  // namespace ksearch
