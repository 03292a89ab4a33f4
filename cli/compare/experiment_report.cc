#include "cli/compare/experiment_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/compare/paired_statistics.h"

namespace ksearch {
namespace {

using Place = std::pair<std::string, uint64_t>;  // task and seed
using TrialsOfArm = std::map<Place, const v1::TrialSummary*>;

constexpr double kFast[] = {1, 1.2, 1.5, 2, 3, 5};
// With fewer tasks the test over their medians could show nothing at the usual level:
// 2 / 2^5 > 0.05.
constexpr size_t kTasksForMedians = 6;
constexpr int kFewPairs = 5;
constexpr double kMuchOptimism = 1.05;

double Evaluations(const v1::CurvePoint& point) { return static_cast<double>(point.evaluations()); }
double Tokens(const v1::CurvePoint& point) { return static_cast<double>(point.tokens()); }
double Money(const v1::CurvePoint& point) { return static_cast<double>(point.nano_usd()); }

v1::Interval ToInterval(const Estimate& estimate, double (*of)(double)) {
  v1::Interval interval;
  interval.set_value(of(estimate.value));
  interval.set_low(of(estimate.low));
  interval.set_high(of(estimate.high));
  return interval;
}
double Exp(double value) { return std::exp(value); }
double Same(double value) { return value; }

std::string RatioText(const v1::Interval& ratio) {
  return absl::StrFormat("%.3fx [%.3f, %.3f]", ratio.value(), ratio.low(), ratio.high());
}

// Area under ln(best so far, at least 1) against evaluations, as a mean over the evaluations done.
double AreaOf(const v1::TrialSummary& trial) {
  if (trial.evaluations() <= 0) return 0;
  double area = 0;
  double at = 0, height = 0;
  for (const v1::CurvePoint& point : trial.curve()) {
    area += (Evaluations(point) - at) * height;
    at = Evaluations(point);
    height = std::log(std::max(1.0, point.best()));
  }
  return area / static_cast<double>(trial.evaluations());
}

// Values of an arm's trials by task, in the order of the tasks.
std::vector<std::vector<double>> ByTask(const v1::Experiment& experiment, const TrialsOfArm& trials,
                                        const std::function<double(const v1::TrialSummary&)>& of) {
  std::vector<std::vector<double>> values(static_cast<size_t>(experiment.tasks_size()));
  for (const auto& [place, trial] : trials) {
    const auto task = std::find(experiment.tasks().begin(), experiment.tasks().end(), place.first);
    if (task == experiment.tasks().end()) continue;
    values[static_cast<size_t>(task - experiment.tasks().begin())].push_back(of(*trial));
  }
  return values;
}

double LogSpeedup(const v1::TrialSummary& trial) { return std::log(trial.speedup()); }

class Reporter {
 public:
  Reporter(const v1::Experiment& experiment, std::vector<v1::TrialSummary> trials)
      : experiment_(experiment), plan_{experiment.confidence(), experiment.bootstrap_samples(), 1} {
    report_.set_experiment(experiment.name());
    report_.set_reference_arm(experiment.reference_arm());
    report_.set_confidence(experiment.confidence());
    std::stable_sort(trials.begin(), trials.end(),
                     [&](const v1::TrialSummary& a, const v1::TrialSummary& b) {
                       return std::make_tuple(a.task(), ArmIndex(a.arm()), a.seed()) <
                              std::make_tuple(b.task(), ArmIndex(b.arm()), b.seed());
                     });
    for (v1::TrialSummary& trial : trials) *report_.add_trials() = std::move(trial);
    for (const v1::TrialSummary& trial : report_.trials()) {
      arms_[trial.arm()][{trial.task(), trial.seed()}] = &trial;
    }
    const int planned = experiment.tasks_size() * experiment.arms_size() * experiment.seeds();
    report_.set_trials_missing(std::max(0, planned - report_.trials_size()));
  }

  v1::ExperimentReport Make() {
    for (const v1::ExperimentArm& arm : experiment_.arms()) Summarize(arm);
    std::vector<double> p_values;
    for (const v1::ExperimentArm& arm : experiment_.arms()) {
      if (arm.name() == experiment_.reference_arm()) continue;
      v1::ArmComparison comparison = Compare(arm.name());
      if (comparison.pairs() == 0) continue;
      p_values.push_back(comparison.p_value());
      *report_.add_comparisons() = std::move(comparison);
    }
    const std::vector<double> corrected = HolmCorrection(p_values);
    for (int i = 0; i < report_.comparisons_size(); ++i) {
      v1::ArmComparison* comparison = report_.mutable_comparisons(i);
      comparison->set_p_value_holm(corrected[static_cast<size_t>(i)]);
      Claim(comparison);
    }
    Caution();
    return std::move(report_);
  }

 private:
  int ArmIndex(const std::string& name) const {
    for (int i = 0; i < experiment_.arms_size(); ++i) {
      if (experiment_.arms(i).name() == name) return i;
    }
    return experiment_.arms_size();
  }

  void Summarize(const v1::ExperimentArm& arm) {
    const TrialsOfArm& trials = arms_[arm.name()];
    v1::ArmSummary* summary = report_.add_arms();
    summary->set_arm(arm.name());
    summary->set_strategy(arm.config().strategy());
    summary->set_trials(static_cast<int>(trials.size()));
    if (trials.empty()) return;
    *summary->mutable_speedup() =
        ToInterval(BootstrapMean(ByTask(experiment_, trials, LogSpeedup), plan_), Exp);
    double judged = 0, built = 0, passed = 0, unflagged = 0;
    int flagged = 0;
    std::vector<double> optimism, evaluations, tokens, money, device, hours, area;
    for (const auto& [place, trial] : trials) {
      judged += trial->judged();
      built += trial->built();
      passed += trial->passed();
      unflagged += trial->passed_unflagged();
      flagged += trial->flagged();
      if (trial->optimism() > 0) optimism.push_back(std::log(trial->optimism()));
      evaluations.push_back(static_cast<double>(trial->evaluations()));
      tokens.push_back(static_cast<double>(trial->tokens()));
      money.push_back(static_cast<double>(trial->nano_usd()));
      device.push_back(trial->device_seconds());
      hours.push_back(trial->hours());
      area.push_back(AreaOf(*trial));
    }
    if (judged > 0) {
      summary->set_built_rate(built / judged);
      summary->set_passed_rate(passed / judged);
      summary->set_unflagged_rate(unflagged / judged);
    }
    summary->set_flagged(flagged);
    if (!optimism.empty()) summary->set_optimism(std::exp(Mean(optimism)));
    summary->set_evaluations(Mean(evaluations));
    summary->set_tokens(Mean(tokens));
    summary->set_nano_usd(Mean(money));
    summary->set_device_seconds(Mean(device));
    summary->set_hours(Mean(hours));
    summary->set_area(Mean(area));
    for (const double least : kFast) {
      const auto fast = std::count_if(trials.begin(), trials.end(), [&](const auto& entry) {
        return entry.second->speedup() >= least;
      });
      v1::ArmSummary::Share* share = summary->add_fast();
      share->set_at_least(least);
      share->set_share(static_cast<double>(fast) / static_cast<double>(trials.size()));
    }
  }

  v1::ArmComparison Compare(const std::string& arm) {
    const TrialsOfArm& ours = arms_[arm];
    const TrialsOfArm& others = arms_[experiment_.reference_arm()];
    v1::ArmComparison comparison;
    comparison.set_arm(arm);
    comparison.set_reference(experiment_.reference_arm());
    TrialsOfArm paired, paired_other;
    bool costs_money = false;
    for (const auto& [place, trial] : ours) {
      const auto other = others.find(place);
      if (other == others.end()) continue;
      paired[place] = trial;
      paired_other[place] = other->second;
      costs_money = costs_money || trial->nano_usd() > 0 || other->second->nano_usd() > 0;
    }
    comparison.set_pairs(static_cast<int>(paired.size()));
    if (paired.empty()) return comparison;
    const auto other_of = [&](const v1::TrialSummary& trial) -> const v1::TrialSummary& {
      return *paired_other.at({trial.task(), trial.seed()});
    };
    const auto ratios = ByTask(experiment_, paired, [&](const v1::TrialSummary& trial) {
      return LogSpeedup(trial) - LogSpeedup(other_of(trial));
    });
    *comparison.mutable_ratio() = ToInterval(BootstrapMean(ratios, plan_), Exp);
    std::vector<double> differences, medians;
    for (const std::vector<double>& task : ratios) {
      differences.insert(differences.end(), task.begin(), task.end());
      if (!task.empty()) medians.push_back(Median(task));
    }
    comparison.set_p_value_over_tasks(medians.size() >= kTasksForMedians);
    comparison.set_p_value(
        WilcoxonSignedRank(comparison.p_value_over_tasks() ? medians : differences));
    *comparison.mutable_improvement_probability() =
        ToInterval(ImprovementProbability(ByTask(experiment_, paired, LogSpeedup),
                                          ByTask(experiment_, paired_other, LogSpeedup), plan_),
                   Same);
    double (*const axis)(const v1::CurvePoint&) = costs_money ? Money : Tokens;
    const auto at_equal_cost = ByTask(experiment_, paired, [&](const v1::TrialSummary& trial) {
      const v1::TrialSummary& other = other_of(trial);
      const double spent = std::min(axis(*trial.curve().rbegin()), axis(*other.curve().rbegin()));
      return std::log(BestAt(trial, spent, axis) / BestAt(other, spent, axis));
    });
    *comparison.mutable_ratio_at_equal_cost() =
        ToInterval(BootstrapMean(at_equal_cost, plan_), Exp);
    comparison.set_cost_axis(costs_money ? "usd" : "tokens");
    return comparison;
  }

  void Claim(v1::ArmComparison* comparison) const {
    const v1::Interval& ratio = comparison->ratio();
    const v1::Interval& cost = comparison->ratio_at_equal_cost();
    const std::string at_cost = comparison->cost_axis() == "usd" ? "money" : "tokens";
    const std::string shown = absl::StrCat(RatioText(ratio), " at equal evaluations");
    comparison->set_beats(ratio.low() > 1 && cost.high() >= 1);
    if (comparison->beats()) {
      comparison->set_claim(absl::StrCat(comparison->arm(), " beats ", comparison->reference(),
                                         ": ", shown, ", ", RatioText(cost), " screened at equal ",
                                         at_cost));
    } else if (ratio.low() > 1) {
      comparison->set_claim(absl::StrCat(
          comparison->arm(), " is faster than ", comparison->reference(), " at equal evaluations, ",
          RatioText(ratio), ", but slower at equal ", at_cost, ", ", RatioText(cost), " screened"));
    } else if (ratio.high() < 1) {
      comparison->set_claim(absl::StrCat(comparison->arm(), " is slower than ",
                                         comparison->reference(), ": ", shown));
    } else {
      comparison->set_claim(absl::StrCat("no difference is shown between ", comparison->arm(),
                                         " and ", comparison->reference(), ": ", shown));
    }
  }

  void Caution() {
    const auto say = [&](std::string text) { report_.add_cautions(std::move(text)); };
    if (report_.trials_missing() > 0) {
      say(absl::StrCat(
          report_.trials_missing(), " of ", report_.trials_missing() + report_.trials_size(),
          " runs have not ended: every figure covers the others only, and may change."));
    }
    int failed = 0, not_again = 0;
    for (const v1::TrialSummary& trial : report_.trials()) {
      failed += trial.state() == "failed" || trial.state() == "stopped";
      not_again += !trial.remeasured();
    }
    if (failed > 0) {
      say(absl::StrCat(failed,
                       " runs failed or were stopped before their budget was used; what they "
                       "had found counts."));
    }
    if (not_again > 0) {
      say(absl::StrCat(not_again,
                       " runs were not measured again: their screened speed-ups count, "
                       "which are chosen for being high."));
    }
    for (const v1::ArmComparison& comparison : report_.comparisons()) {
      if (comparison.pairs() < kFewPairs) {
        say(absl::StrCat(comparison.arm(), " and ", comparison.reference(), " share only ",
                         comparison.pairs(), " pairs of runs: the interval is rough."));
      }
    }
    if (experiment_.tasks_size() == 1) {
      say("There is one task: nothing follows for others.");
    }
    for (const v1::ArmSummary& arm : report_.arms()) {
      if (arm.optimism() > kMuchOptimism) {
        say(absl::StrFormat("What %s screened was %.1f %% above what it measured again.", arm.arm(),
                            100 * (arm.optimism() - 1)));
      }
      if (arm.flagged() > 0) {
        say(absl::StrCat(arm.arm(), " had ", arm.flagged(),
                         " programs that were refused as cheats or suspicious."));
      }
    }
  }

  const v1::Experiment& experiment_;
  const BootstrapPlan plan_;
  v1::ExperimentReport report_;
  std::map<std::string, TrialsOfArm> arms_;  // borrows report_.trials
};

}  // namespace

double BestAt(const v1::TrialSummary& trial, double amount, double (*axis)(const v1::CurvePoint&)) {
  double best = 1;
  for (const v1::CurvePoint& point : trial.curve()) {
    if (axis(point) <= amount) best = std::max(best, point.best());
  }
  return best;
}

v1::ExperimentReport MakeReport(const v1::Experiment& experiment,
                                std::vector<v1::TrialSummary> trials) {
  return Reporter(experiment, std::move(trials)).Make();
}

}  // namespace ksearch
