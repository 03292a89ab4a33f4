#include "cli/compare/trial_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "cli/compare/paired_statistics.h"
#include "cli/text.h"
#include "common/run_facts.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// Returns true if a failed outcome is one of the verdicts on the program that call it dishonest.
bool Dishonest(v1::Outcome outcome) { return outcome == v1::OUTCOME_CHEAT; }

void SetPlace(const v1::RunDetail& totals, v1::CurvePoint* point) {
  point->set_evaluations(totals.rounds_done());
  point->set_tokens(totals.input_tokens() + totals.output_tokens());
  point->set_nano_usd(totals.nano_usd());
  point->set_device_seconds(absl::ToDoubleSeconds(FromProto(totals.device_time())));
  point->set_hours(absl::ToDoubleHours(FromProto(totals.wall_time())));
}

// Candidates that a confirmation or examination refused because of what they do.
std::set<std::string> Refused(const std::vector<v1::RunEvent>& events) {
  std::set<std::string> refused;
  for (const v1::RunEvent& event : events) {
    const v1::Outcome outcome = event.confirmation().outcome();
    if (event.kind() == v1::RunEvent::CONFIRMATION_REFUSED && outcome != v1::OUTCOME_PASSED &&
        outcome != v1::OUTCOME_UNSPECIFIED) {
      refused.insert(event.candidate_id());
    }
  }
  return refused;
}

}  // namespace

v1::TrialSummary SummaryOf(const v1::RunStatus& status, const std::vector<v1::RunEvent>& events,
                           const std::set<std::string>& flagged_again) {
  v1::TrialSummary summary;
  summary.set_task(status.task());
  summary.set_arm(status.trial().arm());
  summary.set_seed(status.trial().seed());
  summary.set_run_id(status.run_id());
  summary.set_state(StateText(status.state()));
  summary.set_reason(status.reason());
  summary.set_evaluations(status.rounds_done());
  const v1::Ledger& ledger = status.ledger();
  summary.set_tokens(status.input_tokens() + status.output_tokens());
  if (ledger.lines_size() > 0) summary.set_nano_usd(ledger.lines(0).nano_usd_spent());
  summary.set_device_seconds(absl::ToDoubleSeconds(FromProto(ledger.gpu_time())));
  summary.set_hours(absl::ToDoubleHours(FromProto(ledger.wall_time())));
  std::set<std::string> programs, flagged = flagged_again;
  std::vector<std::string> passed_programs;  // of each that passed
  double best = 0;
  for (const v1::RunEvent& event : events) {
    const v1::Outcome confirmed = event.confirmation().outcome();
    if (event.kind() == v1::RunEvent::CONFIRMATION_REFUSED && Dishonest(confirmed)) {
      flagged.insert(event.candidate_id());
    }
    const bool passed = event.kind() == v1::RunEvent::CANDIDATE_PASSED;
    if (!passed && event.kind() != v1::RunEvent::CANDIDATE_FAILED) continue;
    summary.set_judged(summary.judged() + 1);
    programs.insert(event.candidate_id());
    if (passed || !IsBuildFailure(event.candidate().outcome()))
      summary.set_built(summary.built() + 1);
    if (Dishonest(event.candidate().outcome())) flagged.insert(event.candidate_id());
    if (!passed) continue;
    summary.set_passed(summary.passed() + 1);
    passed_programs.push_back(event.candidate_id());
    if (event.candidate().speedup() <= best) continue;
    best = event.candidate().speedup();
    v1::CurvePoint* point = summary.add_curve();
    SetPlace(event.totals(), point);
    point->set_best(best);
  }
  v1::CurvePoint* end = summary.add_curve();
  end->set_evaluations(summary.evaluations());
  end->set_tokens(summary.tokens());
  end->set_nano_usd(summary.nano_usd());
  end->set_device_seconds(summary.device_seconds());
  end->set_hours(summary.hours());
  end->set_best(best);
  summary.set_distinct_programs(static_cast<int>(programs.size()));
  summary.set_flagged(static_cast<int>(flagged.size()));
  summary.set_passed_unflagged(static_cast<int>(
      std::count_if(passed_programs.begin(), passed_programs.end(),
                    [&](const std::string& id) { return flagged.count(id) == 0; })));
  summary.set_best_screened(best);
  summary.set_speedup(std::max(1.0, best));
  return summary;
}

std::vector<ScreenedCandidate> BestScreened(const std::vector<v1::RunEvent>& events, int count) {
  std::map<std::string, double> speedups;
  for (const v1::RunEvent& event : events) {
    if (event.kind() != v1::RunEvent::CANDIDATE_PASSED || event.candidate_id().empty()) continue;
    double& speedup = speedups[event.candidate_id()];
    speedup = std::max(speedup, event.candidate().speedup());
  }
  for (const std::string& id : Refused(events)) speedups.erase(id);
  std::vector<ScreenedCandidate> best;
  for (const auto& [id, speedup] : speedups) best.push_back({id, speedup});
  std::stable_sort(
      best.begin(), best.end(),
      [](const ScreenedCandidate& a, const ScreenedCandidate& b) { return a.speedup > b.speedup; });
  if (static_cast<int>(best.size()) > count) best.resize(static_cast<size_t>(count));
  return best;
}

SessionVerdict VerdictOf(const v1::JobResult& result) {
  SessionVerdict verdict;
  verdict.flagged = Dishonest(result.outcome()) || result.suspicions_size() > 0;
  if (result.outcome() != v1::OUTCOME_PASSED || verdict.flagged) return verdict;
  if (const v1::Comparison* over = OverBaseline(result)) {
    verdict.speedup = std::exp(over->log_speedup());
  }
  return verdict;
}

void SetRemeasured(const ScreenedCandidate& chosen, const std::vector<double>& sessions,
                   v1::TrialSummary* summary) {
  std::vector<double> logs;
  for (const double speedup : sessions) logs.push_back(std::log(speedup));
  const double speedup = std::exp(Mean(logs));
  summary->set_candidate_id(chosen.candidate_id);
  summary->set_remeasured(true);
  summary->set_speedup(std::max(1.0, speedup));
  if (speedup > 0 && chosen.speedup > 0) summary->set_optimism(chosen.speedup / speedup);
}

void SetNothingHeld(v1::TrialSummary* summary) {
  summary->clear_candidate_id();
  summary->clear_optimism();
  summary->set_remeasured(true);
  summary->set_speedup(1);
}

}  // namespace ksearch
