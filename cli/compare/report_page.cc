#include "cli/compare/report_page.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "cli/compare/experiment_report.h"
#include "cli/compare/report_text.h"

namespace ksearch {
namespace {

constexpr double kWidth = 620, kHeight = 300;
constexpr double kLeft = 52, kRight = 12, kTop = 12, kBottom = 36;
constexpr int kSteps = 80;
constexpr int kTicks = 5;
// Distinguishable with color blindness, too (Okabe and Ito).
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                   "#56b4e9", "#000000", "#999999", "#7f3c8d", "#a5aa99"};

constexpr absl::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em;
       color: #1b1b1b; background: #fff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 1.8em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .25em .8em .25em 0; border-bottom: 1px solid #ddd; white-space: nowrap; }
.charts { display: flex; flex-wrap: wrap; gap: 1em; }
figure { margin: 0; } figcaption { font-size: .9em; }
svg text { font: 11px system-ui, sans-serif; fill: #333; }
.legend span { display: inline-block; margin-right: 1.2em; }
.legend i { display: inline-block; width: 1.1em; height: .25em; vertical-align: middle; margin-right: .4em; }
.caution { color: #7a4b00; }
</style>
</head>
<body>
)";

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string TableHtml(const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<table>\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    html += "<tr>";
    const char* const cell = i == 0 ? "th" : "td";
    for (const std::string& text : rows[i]) {
      absl::StrAppend(&html, "<", cell, ">", Escaped(text), "</", cell, ">");
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

const char* ColorOf(int arm) {
  return kColors[static_cast<size_t>(arm) % (sizeof(kColors) / sizeof(kColors[0]))];
}

struct Axis {
  const char* title;
  double (*of)(const v1::CurvePoint&);
};
constexpr Axis kAxes[] = {
    {"evaluations", [](const v1::CurvePoint& p) { return static_cast<double>(p.evaluations()); }},
    {"tokens", [](const v1::CurvePoint& p) { return static_cast<double>(p.tokens()); }},
    {"US dollars",
     [](const v1::CurvePoint& p) { return static_cast<double>(p.nano_usd()) * 1e-9; }},
    {"seconds on devices", [](const v1::CurvePoint& p) { return p.device_seconds(); }},
    {"hours", [](const v1::CurvePoint& p) { return p.hours(); }},
};

std::string Number(double value) {
  if (value == 0) return "0";
  if (value >= 1e6) return absl::StrFormat("%.3gM", value / 1e6);
  if (value >= 1e3) return absl::StrFormat("%.3gk", value / 1e3);
  return absl::StrFormat("%.3g", value);
}

// The chart of one axis; empty: nothing was spent along it.
std::string Chart(const v1::ExperimentReport& report, const Axis& axis) {
  double most = 0, best = 1;
  for (const v1::TrialSummary& trial : report.trials()) {
    for (const v1::CurvePoint& point : trial.curve()) {
      most = std::max(most, axis.of(point));
      best = std::max(best, point.best());
    }
  }
  if (most <= 0) return "";
  best *= 1.05;
  const auto x = [&](double value) { return kLeft + value / most * (kWidth - kLeft - kRight); };
  // Logarithmic, from the baseline on.
  const auto y = [&](double value) {
    const double share = std::log(std::max(1.0, value)) / std::log(best);
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  };
  std::string svg = absl::StrFormat(
      "<figure><svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\" "
      "aria-label=\"best speed-up so far against %s\">\n",
      kWidth, kHeight, kWidth, kHeight, axis.title);
  for (int i = 0; i < kTicks; ++i) {
    const double share = static_cast<double>(i) / (kTicks - 1);
    const double across = most * share, up = std::exp(std::log(best) * share);
    absl::StrAppendFormat(&svg,
                          "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#eee\"/>"
                          "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%sx</text>"
                          "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
                          kLeft, kWidth - kRight, y(up), y(up), kLeft - 6, y(up) + 4, Number(up),
                          x(across), kHeight - kBottom + 16, i + 1 < kTicks ? "middle" : "end",
                          Number(across));
  }
  for (int arm = 0; arm < report.arms_size(); ++arm) {
    std::vector<const v1::TrialSummary*> trials;
    double reached = most;  // curves end at what half of the runs have spent
    std::vector<double> ends;
    for (const v1::TrialSummary& trial : report.trials()) {
      if (trial.arm() != report.arms(arm).arm() || trial.curve_size() == 0) continue;
      trials.push_back(&trial);
      ends.push_back(axis.of(*trial.curve().rbegin()));
    }
    if (trials.empty()) continue;
    std::sort(ends.begin(), ends.end());
    reached = ends[ends.size() / 2];
    std::string line, above, below;
    for (int step = 0; step <= kSteps; ++step) {
      const double at = reached * step / kSteps;
      std::vector<double> values;
      for (const v1::TrialSummary* trial : trials) {
        if (axis.of(*trial->curve().rbegin()) >= at) values.push_back(BestAt(*trial, at, axis.of));
      }
      if (values.empty()) break;
      std::sort(values.begin(), values.end());
      const auto quantile = [&](double share) {
        return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
      };
      absl::StrAppendFormat(&line, "%.1f,%.1f ", x(at), y(quantile(0.5)));
      absl::StrAppendFormat(&above, "%.1f,%.1f ", x(at), y(quantile(0.75)));
      below = absl::StrFormat("%.1f,%.1f ", x(at), y(quantile(0.25))) + below;
    }
    absl::StrAppendFormat(&svg,
                          "<polygon points=\"%s%s\" fill=\"%s\" fill-opacity=\"0.12\"/>"
                          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" "
                          "stroke-width=\"2\"/>\n",
                          above, below, ColorOf(arm), line, ColorOf(arm));
  }
  absl::StrAppendFormat(&svg,
                        "</svg><figcaption>best screened speed-up so far against %s</figcaption>"
                        "</figure>\n",
                        axis.title);
  return svg;
}

std::vector<std::vector<std::string>> TrialRows(const v1::ExperimentReport& report) {
  std::vector<std::vector<std::string>> rows = {{"task", "arm", "seed", "run", "state",
                                                 "evaluations", "passed", "flagged",
                                                 "best screened", "measured again", "tokens"}};
  for (const v1::TrialSummary& trial : report.trials()) {
    rows.push_back({trial.task(), trial.arm(), absl::StrCat(trial.seed()), trial.run_id(),
                    trial.state(), absl::StrCat(trial.evaluations()),
                    absl::StrCat(trial.passed(), " of ", trial.judged()),
                    absl::StrCat(trial.flagged()), absl::StrFormat("%.3fx", trial.best_screened()),
                    trial.remeasured() ? absl::StrFormat("%.3fx", trial.speedup()) : "-",
                    absl::StrCat(trial.tokens())});
  }
  return rows;
}

}  // namespace

std::string ReportPage(const v1::ExperimentReport& report) {
  const std::string title = absl::StrCat("Experiment ", Escaped(report.experiment()));
  std::string page = absl::StrReplaceAll(kHead, {{"{title}", title}});
  absl::StrAppend(
      &page, "<h1>", title, "</h1>\n<p>", report.trials_size(), " runs",
      report.trials_missing() > 0 ? absl::StrCat(", ", report.trials_missing(), " missing") : "",
      absl::StrFormat("; intervals at %g %%.</p>\n", 100 * report.confidence()));
  if (report.comparisons_size() > 0) {
    page += "<ul>\n";
    for (const v1::ArmComparison& comparison : report.comparisons()) {
      absl::StrAppend(&page, "<li>", Escaped(comparison.claim()), "</li>\n");
    }
    page += "</ul>\n";
  }
  for (const std::string& caution : report.cautions()) {
    absl::StrAppend(&page, "<p class=\"caution\">", Escaped(caution), "</p>\n");
  }
  page += "<h2>Arms</h2>\n" + TableHtml(ArmRows(report));
  if (report.comparisons_size() > 0) {
    page += "<h2>Comparisons</h2>\n" + TableHtml(ComparisonRows(report));
  }
  page += "<h2>Curves</h2>\n<p class=\"legend\">";
  for (int arm = 0; arm < report.arms_size(); ++arm) {
    absl::StrAppend(&page, "<span><i style=\"background:", ColorOf(arm), "\"></i>",
                    Escaped(report.arms(arm).arm()), "</span>");
  }
  page +=
      "</p>\n<p>Lines are medians of an arm's runs, bands their middle half; a line ends where "
      "half of the runs have ended.</p>\n<div class=\"charts\">\n";
  for (const Axis& axis : kAxes) page += Chart(report, axis);
  absl::StrAppend(&page, "</div>\n<h2>Runs</h2>\n", TableHtml(TrialRows(report)),
                  "</body>\n</html>\n");
  return page;
}

}  // namespace ksearch
