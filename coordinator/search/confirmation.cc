#include "coordinator/search/confirmation.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/run_facts.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

constexpr size_t kMaxVerdict = 300;
constexpr size_t kMaxRefusal = 400;

bool SlowerOnUnseen(const v1::Comparison& comparison) {
  return std::any_of(comparison.workloads().begin(), comparison.workloads().end(),
                     [](const v1::Comparison::PerWorkload& workload) {
                       return workload.held_out() && workload.ci_high() < 0;
                     });
}

std::string SpeedupOver(const v1::Comparison& comparison) {
  return absl::StrFormat("%.2fx [%.2f, %.2f] over %s", std::exp(comparison.log_speedup()),
                         std::exp(comparison.ci_low()), std::exp(comparison.ci_high()),
                         comparison.rival_id() == kBaselineRival
                             ? "the baseline"
                             : "the best program confirmed before");
}

}  // namespace

v1::ConfirmedProgram ReadConfirmation(const Confirmation& confirmation,
                                      const std::vector<std::string>& findings) {
  const v1::JobResult& result = confirmation.result;
  v1::ConfirmedProgram confirmed;
  for (const std::string& finding : findings) confirmed.add_findings(finding);
  if (const v1::Comparison* baseline = OverBaseline(result); baseline != nullptr) {
    confirmed.set_speedup(std::exp(baseline->log_speedup()));
    confirmed.set_speedup_low(std::exp(baseline->ci_low()));
    confirmed.set_speedup_high(std::exp(baseline->ci_high()));
  }
  std::string verdict;
  const v1::Comparison* rival = FindComparison(result, confirmation.rival_id);
  if (result.outcome() != v1::OUTCOME_PASSED) {
    confirmed.set_refused(true);
    verdict = OutcomeWord(result.outcome());
  } else if (result.suspicions_size() > 0) {
    confirmed.set_refused(true);
    verdict = "suspicious";
  } else if (rival == nullptr) {
    verdict = "not compared";
  } else if (rival->verdict() == v1::Comparison::IMPROVED) {
    verdict = absl::StrCat("confirmed, ", SpeedupOver(*rival));
  } else if (rival->verdict() == v1::Comparison::MIXED ||
             (rival->verdict() == v1::Comparison::WORSE && SlowerOnUnseen(*rival))) {
    confirmed.set_refused(true);
    verdict = absl::StrCat("right, but certainly slower on some sizes: ", SpeedupOver(*rival));
  } else {
    verdict = absl::StrCat("right, but not certainly faster: ", SpeedupOver(*rival));
  }
  confirmed.set_verdict(OneLine(verdict, kMaxVerdict));
  return confirmed;
}

std::string RefusalLine(const v1::ConfirmedProgram& confirmed) {
  return OneLine(
      absl::StrCat("refused by its ", confirmed.by_examination() ? "examination" : "confirmation",
                   ": ",
                   confirmed.findings_size() > 0 ? absl::StrJoin(confirmed.findings(), "; ")
                                                 : confirmed.verdict()),
      kMaxRefusal);
}

}  // namespace ksearch
