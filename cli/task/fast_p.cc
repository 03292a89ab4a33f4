#include "cli/task/fast_p.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/mean_times.h"
#include "common/status_macros.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

constexpr double kShares[] = {0, 0.5, 0.8, 1, 1.5, 2};

class Counter {
 public:
  Counter() {
    for (const double p : kShares) fast_p_.shares.push_back({p, 0});
  }
  // `speedup`: absent if it is not known.
  void Add(const v1::ProblemStanding& problem, std::optional<double> speedup) {
    ++fast_p_.problems;
    if (problem.evaluations() > 0) ++fast_p_.attempted;
    if (problem.outcome() != v1::OUTCOME_PASSED) return;
    ++fast_p_.correct;
    for (FastP::Share& share : fast_p_.shares) {
      if (share.p == 0 || (speedup.has_value() && *speedup > share.p)) ++share.problems;
    }
    if (!speedup.has_value()) return;
    sum_of_logs_ += std::log(*speedup);
    ++timed_;
  }
  FastP Take() {
    if (timed_ > 0) fast_p_.geometric_mean_speedup = std::exp(sum_of_logs_ / timed_);
    return fast_p_;
  }

 private:
  FastP fast_p_;
  double sum_of_logs_ = 0;
  int timed_ = 0;
};

// "l1" -> "level1".
std::string UpstreamLevel(absl::string_view level) {
  absl::ConsumePrefix(&level, "l");
  return absl::StrCat("level", level);
}

std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

FastP FastPOf(const v1::SuiteReport& report) {
  Counter counter;
  for (const v1::ProblemStanding& problem : report.problems()) {
    if (!problem.left_out().empty()) continue;
    counter.Add(problem, problem.speedup() > 0 ? std::optional(problem.speedup()) : std::nullopt);
  }
  return counter.Take();
}

absl::StatusOr<BaselineTimes> ParseBaselineTimes(absl::string_view text, absl::string_view file) {
  ASSIGN_OR_RETURN(const LocatedJson json, ParseLocatedJson(text, file));
  RETURN_IF_ERROR(JsonFields(file, json, "").CheckObject());
  BaselineTimes times;
  for (const LocatedJson::Member& level : json.members) {
    RETURN_IF_ERROR(JsonFields(file, level.value, level.name).CheckObject());
    for (const LocatedJson::Member& problem : level.value.members) {
      const JsonFields fields(file, problem.value, absl::StrCat(level.name, ".", problem.name));
      RETURN_IF_ERROR(fields.CheckObject());
      const LocatedJson* const mean = problem.value.Find("mean");
      if (mean == nullptr || (mean->kind != Kind::kFloat && mean->kind != Kind::kInteger)) {
        return fields.Error("mean", "must be a number of milliseconds");
      }
      const double ms =
          mean->kind == Kind::kInteger ? static_cast<double>(mean->integer) : mean->number;
      if (!(ms > 0) || !std::isfinite(ms)) return fields.Error("mean", "must be above 0");
      times[level.name][problem.name] = ms;
    }
  }
  return times;
}

FastP FastPOver(const v1::SuiteReport& report, const BaselineTimes& baseline) {
  Counter counter;
  for (const v1::ProblemStanding& problem : report.problems()) {
    if (!problem.left_out().empty()) continue;
    const auto level = baseline.find(UpstreamLevel(problem.level()));
    if (level == baseline.end()) continue;
    const auto time = level->second.find(FileName(problem.path()));
    if (time == level->second.end()) continue;
    counter.Add(problem, problem.candidate_us() > 0
                             ? std::optional(1e3 * time->second / problem.candidate_us())
                             : std::nullopt);
  }
  return counter.Take();
}

std::string FastPText(const FastP& fast_p) {
  std::string text = absl::StrFormat("%d problems, %d attempted, %d correct\n", fast_p.problems,
                                     fast_p.attempted, fast_p.correct);
  for (const FastP::Share& share : fast_p.shares) {
    absl::StrAppendFormat(
        &text, "fast_%g = %.3f (%d of %d)\n", share.p,
        fast_p.problems == 0 ? 0.0 : static_cast<double>(share.problems) / fast_p.problems,
        share.problems, fast_p.problems);
  }
  if (fast_p.geometric_mean_speedup > 0) {
    absl::StrAppendFormat(&text, "%.3fx geometric mean speed-up of the correct ones\n",
                          fast_p.geometric_mean_speedup);
  }
  return text;
}

}  // namespace ksearch
