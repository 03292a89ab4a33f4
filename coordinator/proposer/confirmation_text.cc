#include "coordinator/proposer/confirmation_text.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/run_facts.h"
#include "coordinator/proposer/evidence_text.h"
#include "coordinator/proposer/size_region.h"
#include "coordinator/proposer/task_text.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

constexpr size_t kMaxFindings = 8;
constexpr size_t kMaxFinding = 400;
constexpr size_t kMaxMessage = 250;
constexpr size_t kMaxNames = 3;

const char* KindText(v1::SanitizerFinding::Kind kind) {
  switch (kind) {
    case v1::SanitizerFinding::OUT_OF_BOUNDS:
      return "an access outside what is allocated";
    case v1::SanitizerFinding::BAD_ACCESS:
      return "a misaligned or refused access";
    case v1::SanitizerFinding::RACE:
      return "a race between threads of a block in shared memory";
    case v1::SanitizerFinding::UNINITIALIZED:
      return "a read of memory that nobody wrote";
    case v1::SanitizerFinding::BAD_SYNCHRONIZATION:
      return "a barrier that not all of its threads reach";
    default:
      return "a fault";
  }
}

std::string SanitizerLine(const v1::SanitizerFinding& finding) {
  std::string line = absl::StrCat("compute-sanitizer ", SafeLine(finding.tool(), 20), ": ",
                                  KindText(finding.kind()));
  if (!finding.kernel().empty()) {
    absl::StrAppend(&line, ", in kernel ", SafeLine(finding.kernel(), 120));
  }
  if (finding.line() > 0) {
    absl::StrAppend(&line, ", at ", SafeLine(finding.file(), 80), ":", finding.line());
  }
  // The text after the first clause tells threads and sizes of buffers, also of held-out
  // workloads.
  std::string head = finding.text().substr(0, finding.text().find(';'));
  // For a race also the other access, with its line; the count of hazards behind it depends on
  // sizes.
  constexpr absl::string_view kOther = "; and ";
  const size_t other = finding.text().find(std::string(kOther));
  if (finding.kind() == v1::SanitizerFinding::RACE && other == head.size()) {
    const std::string rest = finding.text().substr(other + kOther.size());
    absl::StrAppend(&head, " and ", rest.substr(0, rest.find_first_of("[;")));
  }
  return absl::StrCat(line, " (", SafeLine(absl::StripTrailingAsciiWhitespace(head), 240), ")");
}

// "hidden case 'zeros of x': ..." -> "zeros of x".
std::string HiddenCaseIn(const std::string& message) {
  constexpr absl::string_view kMark = "hidden case '";
  const size_t at = message.find(std::string(kMark));
  if (at == std::string::npos) return "";
  const size_t begin = at + kMark.size();
  const size_t end = message.find('\'', begin);
  return end == std::string::npos ? "" : message.substr(begin, end - begin);
}

std::vector<std::string> FeedbackIds(const v1::Task& task) {
  std::vector<std::string> ids;
  for (const v1::Workload& workload : task.workloads()) {
    if (!workload.held_out()) ids.push_back(workload.uuid());
  }
  return ids;
}

std::string FailedLine(const v1::Task& task, const v1::WorkloadResult& workload) {
  const bool shown = IsFeedback(task, workload.workload_uuid());
  std::string line;
  if (shown) {
    line = absl::StrCat("on workload ", workload.workload_uuid());
  } else {
    const std::string region = SizeRegion(task, {workload.workload_uuid()}, FeedbackIds(task));
    line = absl::StrCat("on unseen sizes", region.empty() ? "" : ", ", region);
  }
  const std::string variant = HiddenCaseIn(workload.message());
  if (!variant.empty()) {
    absl::StrAppend(&line, ", with an input variant that the search does not use (",
                    SafeLine(variant, 80), ")");
  }
  absl::StrAppend(&line, ": ", OutcomeText(workload.outcome()));
  // The failure's text reveals indices and sizes.
  if (shown && variant.empty() && !workload.message().empty()) {
    absl::StrAppend(&line, "; ", WithoutHeldOut(task, SafeLine(workload.message(), kMaxMessage)));
  }
  return line;
}

bool Failed(const v1::WorkloadResult& workload) {
  return workload.outcome() != v1::OUTCOME_PASSED && workload.outcome() != v1::OUTCOME_UNSPECIFIED;
}

// Adds where `comparison` shows that the program is certainly slower; nothing if nowhere.
void AddSlowRegions(const v1::Task& task, const v1::Comparison& comparison,
                    std::vector<std::string>* findings) {
  std::vector<std::string> slow, others, shown_slow;
  double log_unseen = 0;
  double log_shown = 0;
  int unseen = 0;
  for (const v1::Comparison::PerWorkload& workload : comparison.workloads()) {
    if (workload.ci_high() >= 0) {
      others.push_back(workload.workload_uuid());
      continue;
    }
    slow.push_back(workload.workload_uuid());
    if (IsFeedback(task, workload.workload_uuid())) {
      shown_slow.push_back(workload.workload_uuid());
      log_shown += workload.log_speedup();
    } else {
      ++unseen;
      log_unseen += workload.log_speedup();
    }
  }
  const std::string rival = comparison.rival_id() == kBaselineRival
                                ? "the baseline"
                                : "the best program confirmed before";
  std::string region = SizeRegion(task, slow, others);
  if (region.empty() && others.empty()) region = "like everywhere else";
  if (unseen > 0) {
    findings->push_back(absl::StrFormat("slower than %s (%.2fx) on unseen sizes%s%s", rival,
                                        std::exp(log_unseen / unseen), region.empty() ? "" : ", ",
                                        region));
  }
  if (!shown_slow.empty()) {
    const double mean = std::exp(log_shown / static_cast<double>(shown_slow.size()));
    const size_t more = shown_slow.size() > kMaxNames ? shown_slow.size() - kMaxNames : 0;
    shown_slow.resize(shown_slow.size() - more);
    findings->push_back(absl::StrFormat("slower than %s (%.2fx) on workload %s%s", rival, mean,
                                        absl::StrJoin(shown_slow, ", "),
                                        more > 0 ? absl::StrCat(" and ", more, " more") : ""));
  }
}

}  // namespace

std::vector<std::string> ConfirmationFindings(const v1::Task& task, const v1::JobResult& result,
                                              const std::string& rival_id) {
  std::vector<std::string> findings;
  const auto add = [&](const std::string& line) { findings.push_back(line); };
  for (const v1::SanitizerFinding& finding : result.sanitizer().findings()) {
    if (finding.warning()) continue;
    // A finding without a second witness (docs/measuring.md) is presented as a suspicion.
    const bool doubtful = result.outcome() == v1::OUTCOME_PASSED;
    add(absl::StrCat(doubtful ? "perhaps a false alarm, no output was wrong: " : "",
                     SanitizerLine(finding)));
  }
  if (result.outcome() != v1::OUTCOME_PASSED && findings.empty()) {
    for (const v1::WorkloadResult& workload : result.workloads()) {
      if (Failed(workload)) add(FailedLine(task, workload));
    }
    // A message on a workload begins with its name; one that names none is about the program.
    if (findings.empty()) {
      const bool about_workload = absl::StartsWith(result.message(), "workload ");
      add(absl::StrCat(
          OutcomeText(result.outcome()),
          about_workload || result.message().empty()
              ? ""
              : absl::StrCat("; ", WithoutHeldOut(task, SafeLine(result.message(), kMaxMessage)))));
    }
  }
  for (const std::string& suspicion : result.suspicions()) {
    add(absl::StrCat("suspicious: ", WithoutHeldOut(task, SafeLine(suspicion, kMaxMessage))));
  }
  for (const v1::Comparison& comparison : result.comparisons()) {
    if (comparison.rival_id() == rival_id) AddSlowRegions(task, comparison, &findings);
  }
  if (findings.size() > kMaxFindings) findings.resize(kMaxFindings);
  for (std::string& line : findings) line = SafeLine(line, kMaxFinding);
  return findings;
}

std::string ConfirmationText(const v1::ConfirmedProgram& confirmed) {
  std::string text = absl::StrCat(
      confirmed.by_examination()
          ? "An examination runs compute-sanitizer on the smallest workload as soon as a program "
            "is "
            "the best of its action."
          : "A confirmation repeats the checks on unseen sizes and input variants, with "
            "compute-sanitizer "
            "where there is a GPU, and times a program side by side with its rivals.",
      "\nVerdict: ", confirmed.refused() ? "REFUSED: " : "", SafeLine(confirmed.verdict(), 300),
      ".\n");
  if (confirmed.has_speedup()) {
    absl::StrAppendFormat(&text,
                          "Confirmed speed-up over the baseline, unseen sizes included: %.3f "
                          "[%.3f, %.3f].\n",
                          confirmed.speedup(), confirmed.speedup_low(), confirmed.speedup_high());
  }
  std::string lines;
  for (const std::string& finding : confirmed.findings()) {
    absl::StrAppend(&lines, "- ", finding, "\n");
  }
  return absl::StrCat(text, QuotedData(confirmed.by_examination() ? "findings of the examination"
                                                                  : "findings of the confirmation",
                                       lines));
}

}  // namespace ksearch
