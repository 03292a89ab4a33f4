#include "cli/compare/report_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/budget_text.h"
#include "cli/compare/experiment_report.h"
#include "cli/compare/paired_statistics.h"
#include "cli/text.h"

namespace ksearch {
namespace {

constexpr int kQuarters = 4;

std::string Ratio(const v1::Interval& interval) {
  return absl::StrFormat("%.2fx [%.2f, %.2f]", interval.value(), interval.low(), interval.high());
}

std::string Percent(double share) { return absl::StrFormat("%.0f %%", 100 * share); }

std::string PValue(double p) { return p < 0.0001 ? "< 0.0001" : absl::StrFormat("%.4f", p); }

double Evaluations(const v1::CurvePoint& point) { return static_cast<double>(point.evaluations()); }

// Median over an arm's runs of the best screened so far, at quarters of the most evaluations used.
std::vector<std::vector<std::string>> CurveRows(const v1::ExperimentReport& report) {
  int64_t most = 0;
  for (const v1::TrialSummary& trial : report.trials()) most = std::max(most, trial.evaluations());
  std::vector<std::vector<std::string>> rows = {{"best screened after"}};
  std::vector<double> places;
  for (int quarter = 1; quarter <= kQuarters; ++quarter) {
    places.push_back(std::ceil(static_cast<double>(most * quarter) / kQuarters));
    rows[0].push_back(absl::StrFormat("%.0f", places.back()));
  }
  for (const v1::ArmSummary& arm : report.arms()) {
    std::vector<std::string> row = {arm.arm()};
    for (const double place : places) {
      std::vector<double> values;
      for (const v1::TrialSummary& trial : report.trials()) {
        if (trial.arm() == arm.arm()) values.push_back(BestAt(trial, place, Evaluations));
      }
      row.push_back(values.empty() ? "-" : absl::StrFormat("%.2fx", Median(values)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<std::vector<std::string>> ArmRows(const v1::ExperimentReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"arm", "runs", "speed-up, measured again", "built", "passed", "unflagged", "flagged",
       "optimism", "area", "evaluations", "tokens", "money", "device", "hours"}};
  for (const v1::ArmSummary& arm : report.arms()) {
    if (arm.trials() == 0) {
      rows.push_back({arm.arm(), "0", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-"});
      continue;
    }
    rows.push_back(
        {arm.arm(), absl::StrCat(arm.trials()), Ratio(arm.speedup()), Percent(arm.built_rate()),
         Percent(arm.passed_rate()), Percent(arm.unflagged_rate()), absl::StrCat(arm.flagged()),
         arm.optimism() > 0 ? absl::StrFormat("%.3fx", arm.optimism()) : "-",
         absl::StrFormat("%.3f", arm.area()), absl::StrFormat("%.1f", arm.evaluations()),
         absl::StrFormat("%.0f", arm.tokens()), MoneyText(static_cast<int64_t>(arm.nano_usd())),
         absl::StrFormat("%.1f s", arm.device_seconds()), absl::StrFormat("%.3f", arm.hours())});
  }
  return rows;
}

std::vector<std::vector<std::string>> ComparisonRows(const v1::ExperimentReport& report) {
  std::vector<std::vector<std::string>> rows = {{absl::StrCat("beside ", report.reference_arm()),
                                                 "pairs", "ratio of speed-ups", "p", "p, Holm",
                                                 "better in", "at equal cost, screened"}};
  for (const v1::ArmComparison& comparison : report.comparisons()) {
    const v1::Interval& better = comparison.improvement_probability();
    rows.push_back(
        {comparison.arm(), absl::StrCat(comparison.pairs()), Ratio(comparison.ratio()),
         PValue(comparison.p_value()), PValue(comparison.p_value_holm()),
         absl::StrFormat("%.0f %% [%.0f, %.0f]", 100 * better.value(), 100 * better.low(),
                         100 * better.high()),
         absl::StrCat(Ratio(comparison.ratio_at_equal_cost()), " (", comparison.cost_axis(), ")")});
  }
  return rows;
}

std::string ReportText(const v1::ExperimentReport& report) {
  std::string text = absl::StrCat(
      "experiment ", report.experiment(), ": ", report.trials_size(), " runs",
      report.trials_missing() > 0 ? absl::StrCat(", ", report.trials_missing(), " missing") : "",
      absl::StrFormat("; intervals at %g %%\n\n", 100 * report.confidence()));
  absl::StrAppend(&text, Table(ArmRows(report)), "\n");
  if (report.comparisons_size() > 0) absl::StrAppend(&text, Table(ComparisonRows(report)), "\n");
  if (report.trials_size() > 0) absl::StrAppend(&text, Table(CurveRows(report)), "\n");
  for (const v1::ArmComparison& comparison : report.comparisons()) {
    absl::StrAppend(&text, comparison.claim(), "\n");
  }
  if (report.cautions_size() > 0) text += "\n";
  for (const std::string& caution : report.cautions()) absl::StrAppend(&text, caution, "\n");
  return text;
}

}  // namespace ksearch
