#include "coordinator/proposer/evidence_text.h"

#include <cmath>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/run_facts.h"
#include "coordinator/packet/evaluation_packet.h"
#include "coordinator/proposer/language/language_text.h"
#include "coordinator/proposer/task_text.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

constexpr size_t kMaxListedLine = 600;
constexpr int kMaxErrors = 12;
constexpr int kMaxWarnings = 4;
constexpr size_t kMaxDiagnostic = 400;
constexpr size_t kMaxBuildLog = 3000;
constexpr size_t kMaxStderr = 2000;
constexpr size_t kMaxMessage = 1200;
constexpr int kMaxFailedWorkloads = 3;
constexpr int kMaxTimedWorkloads = 48;

std::string DiagnosticLine(const v1::Diagnostic& diagnostic) {
  std::string line;
  if (!diagnostic.file().empty()) absl::StrAppend(&line, SafeLine(diagnostic.file(), 120), ":");
  if (diagnostic.line() > 0) absl::StrAppend(&line, diagnostic.line(), ":");
  return absl::StrCat(line, line.empty() ? "" : " ", SafeLine(diagnostic.severity(), 20), ": ",
                      SafeLine(diagnostic.message(), kMaxDiagnostic));
}

std::string Diagnostics(const v1::BuildReport& build, absl::string_view severity, int limit) {
  std::vector<std::string> lines;
  int more = 0;
  for (const v1::Diagnostic& diagnostic : build.diagnostics()) {
    const bool warning = diagnostic.severity() == "warning" || diagnostic.severity() == "note";
    if (warning != (severity == "warning")) continue;
    if (static_cast<int>(lines.size()) == limit) {
      ++more;
    } else {
      lines.push_back(DiagnosticLine(diagnostic));
    }
  }
  if (more > 0) lines.push_back(absl::StrCat("(", more, " more)"));
  return absl::StrJoin(lines, "\n");
}

const v1::Workload* FindWorkload(const v1::Task& task, absl::string_view uuid) {
  for (const v1::Workload& workload : task.workloads()) {
    if (workload.uuid() == uuid) return &workload;
  }
  return nullptr;
}

std::string AxesText(const v1::Task& task, absl::string_view uuid) {
  const v1::Workload* workload = FindWorkload(task, uuid);
  return workload == nullptr ? "" : absl::StrCat(" (", AxisValuesText(*workload), ")");
}

// The message on one line; or the lines of a traceback, always including the last ones.
std::string MessageText(const std::string& message, v1::Language language) {
  return TextOf(language).TellsTracebacks() && absl::StrContains(message, '\n')
             ? Shortened(message, kMaxMessage, Keep::kTail)
             : SafeLine(message, kMaxMessage);
}

std::string CorrectnessText(const v1::Correctness& correctness) {
  std::string text;
  if (!correctness.worst_output().empty()) {
    absl::StrAppend(&text, "  output: ", SafeLine(correctness.worst_output(), 80), "\n");
  }
  if (correctness.has_first_wrong_index()) {
    absl::StrAppendFormat(&text, "  first wrong element: flat index %d, got %.9g, expected %.9g\n",
                          correctness.first_wrong_index(), correctness.first_wrong_got(),
                          correctness.first_wrong_expected());
  }
  absl::StrAppendFormat(&text,
                        "  right elements: %.4f %%, largest absolute error %.4g, largest relative "
                        "error %.4g\n",
                        100 * correctness.matched_ratio(), correctness.max_abs_error(),
                        correctness.max_rel_error());
  if (correctness.rms_error_ratio() > 0) {
    absl::StrAppendFormat(&text, "  RMS error: %.3g times that of an honest kernel\n",
                          correctness.rms_error_ratio());
  }
  return text;
}

std::string FailedWorkloads(const PromptFacts& facts, const v1::JobResult& result) {
  std::string text;
  int failed = 0;
  int passed = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    if (!IsFeedback(facts.task, workload.workload_uuid())) continue;
    if (workload.outcome() == v1::OUTCOME_PASSED) {
      ++passed;
      continue;
    }
    if (++failed > kMaxFailedWorkloads) continue;
    absl::StrAppend(&text, "- workload ", workload.workload_uuid(),
                    AxesText(facts.task, workload.workload_uuid()), ": ",
                    OutcomeText(workload.outcome(), facts.language), "\n");
    if (!workload.message().empty()) {
      absl::StrAppend(&text, "  message: ",
                      WithoutHeldOut(facts.task, SafeLine(workload.message(), kMaxMessage)), "\n");
    }
    if (workload.has_correctness()) text += CorrectnessText(workload.correctness());
  }
  if (failed == 0) return "";
  return absl::StrCat("Workloads: ", passed, " passed, ", failed, " failed",
                      failed > kMaxFailedWorkloads
                          ? absl::StrCat("; the first ", kMaxFailedWorkloads, ":")
                          : std::string(":"),
                      "\n", text);
}

}  // namespace

std::string OutcomeText(v1::Outcome outcome, v1::Language language) {
  if (const absl::string_view own = TextOf(language).Outcome(outcome); !own.empty()) {
    return std::string(own);
  }
  switch (outcome) {
    case v1::OUTCOME_PASSED:
      return "passed: right on every workload shown";
    case v1::OUTCOME_INVALID_SOURCE:
      return "refused before compiling: a bad path, too large, or empty";
    case v1::OUTCOME_COMPILE_ERROR:
      return "did not compile";
    case v1::OUTCOME_COMPILE_TIMEOUT:
      return "the compiler did not finish in time: fewer templates and less unrolling are needed";
    case v1::OUTCOME_COMPILE_LIMIT:
      return "the compiler ran into a memory or size limit: generate less code";
    case v1::OUTCOME_LOAD_ERROR:
      return "could not be loaded: the entry point is missing or misspelled, a symbol is "
             "undefined, "
             "or a constructor crashed";
    case v1::OUTCOME_RUNTIME_ERROR:
      return "crashed, returned non-zero, or left the process";
    case v1::OUTCOME_TIMEOUT:
      return "a call took too long: an endless loop, a deadlock, or far too slow";
    case v1::OUTCOME_RESOURCE_LIMIT:
      return "used more memory, threads or files than allowed";
    case v1::OUTCOME_INCORRECT:
      return "computed wrong values";
    case v1::OUTCOME_OUT_OF_BOUNDS:
      return "wrote outside an output";
    case v1::OUTCOME_INPUT_MODIFIED:
      return "changed an input";
    case v1::OUTCOME_CHEAT:
      return "broke the rules of measurement: an output of a timed call was stale or missing, work "
             "went on after the return, or the clock or the dialogue was tampered with";
    case v1::OUTCOME_WORKER_LOST:
      return "every machine that tried it was lost";
    case v1::OUTCOME_CANCELLED:
      return "was cancelled";
    case v1::OUTCOME_TASK_ERROR:
      return "was not judged: the task's own reference or baseline is at fault";
    default:
      return "has no known outcome";
  }
}

std::string PerformanceText(const PromptFacts& facts, const v1::JobResult& result) {
  std::string lines;
  int timed = 0;
  int ratios = 0;
  double log_latency = 0;
  double log_ratio = 0;
  bool unstable = false;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const double latency = workload.candidate().median_us();
    if (!IsFeedback(facts.task, workload.workload_uuid()) || !(latency > 0)) continue;
    ++timed;
    log_latency += std::log(latency);
    unstable |= workload.candidate().unstable();
    double baseline = workload.baseline().median_us();
    if (!(baseline > 0)) {
      const auto it = facts.baseline_us.find(workload.workload_uuid());
      if (it != facts.baseline_us.end()) baseline = it->second;
    }
    if (timed <= kMaxTimedWorkloads) {
      absl::StrAppendFormat(&lines, "- %s%s: %.3f us", workload.workload_uuid(),
                            AxesText(facts.task, workload.workload_uuid()), latency);
      if (workload.candidate().ci_high_us() > 0) {
        absl::StrAppendFormat(&lines, " [%.3f, %.3f]", workload.candidate().ci_low_us(),
                              workload.candidate().ci_high_us());
      }
      if (baseline > 0) {
        absl::StrAppendFormat(&lines, ", baseline %.3f us, speed-up %.3f", baseline,
                              baseline / latency);
      }
      lines += "\n";
    }
    if (baseline > 0) {
      ++ratios;
      log_ratio += std::log(baseline / latency);
    }
  }
  if (timed == 0) return "";
  std::string text = absl::StrFormat("Geometric mean latency: %.3f us over %d workloads.\n",
                                     std::exp(log_latency / timed), timed);
  if (ratios == timed) {
    absl::StrAppendFormat(&text, "Geometric mean speed-up over the baseline: %.3f.\n",
                          std::exp(log_ratio / ratios));
  }
  absl::StrAppend(&text, "By workload, median latency with its 95 % interval:\n", lines);
  if (unstable) {
    text +=
        "Some calls took far longer than the median: look for contention, page faults or "
        "uneven work.\n";
  }
  if (!result.device().name().empty()) {
    absl::StrAppend(&text, "Measured on ", SafeLine(result.device().name(), 120), ", ",
                    SafeLine(result.device().architecture(), 80));
    if (result.device().cores() > 0)
      absl::StrAppend(&text, ", ", result.device().cores(), " cores");
    text += ".\n";
  }
  if (result.build().kernels_size() > 0) return text;
  const std::string warnings = Diagnostics(result.build(), "warning", kMaxWarnings);
  if (!warnings.empty()) text += QuotedData("compiler warnings", warnings);
  return text;
}

std::string FailureText(const PromptFacts& facts, const v1::JobResult& result) {
  if (result.outcome() == v1::OUTCOME_PASSED && result.suspicions().empty()) return "";
  std::string text =
      absl::StrCat("Outcome: ", OutcomeText(result.outcome(), facts.language), ".\n");
  if (!result.message().empty()) {
    text += QuotedData("message",
                       WithoutHeldOut(facts.task, MessageText(result.message(), facts.language)));
  }
  text += TextOf(facts.language).Advice(facts.task.definition(), result);
  if (IsBuildFailure(result.outcome())) {
    const std::string errors = Diagnostics(result.build(), "error", kMaxErrors);
    // The first error is the one that counts, so a log is read from its beginning.
    text += errors.empty() ? QuotedData("compiler output", Shortened(result.build().log_excerpt(),
                                                                     kMaxBuildLog, Keep::kHead))
                           : QuotedData("compiler errors", errors);
    return text;
  }
  text += FailedWorkloads(facts, result);
  // The last output before a crash is the most informative.
  text += QuotedData(
      "stderr of the candidate",
      WithoutHeldOut(facts.task, Shortened(result.stderr_excerpt(), kMaxStderr, Keep::kTail)));
  std::vector<std::string> suspicions;
  for (const std::string& suspicion : result.suspicions()) {
    if (suspicions.size() < 8) suspicions.push_back(SafeLine(suspicion, 200));
  }
  text += QuotedData("reasons for distrust",
                     WithoutHeldOut(facts.task, absl::StrJoin(suspicions, "\n")));
  return text;
}

std::string PacketText(const PromptFacts& facts, const v1::JobResult& result,
                       const v1::JobResult* parent) {
  return QuotedData("compiler and profiler",
                    WithoutHeldOut(facts.task, EvaluationPacket({&result, parent, &facts.task})));
}

std::string InFlightText(const PromptFacts& facts, absl::string_view text) {
  return QuotedData("other cycles", WithoutHeldOut(facts.task, text));
}

std::string ShownCodeText(const ShownCode& code) {
  if (!code.score.has_value()) return "did not pass";
  std::string text = absl::StrFormat("score %.4f", *code.score);
  if (code.latency_us.has_value()) absl::StrAppendFormat(&text, ", %.3f us", *code.latency_us);
  return text;
}

std::string LinesText(const PromptFacts& facts, absl::string_view name,
                      const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    absl::StrAppend(&text, "- ", WithoutHeldOut(facts.task, SafeLine(line, kMaxListedLine)), "\n");
  }
  return text.empty() ? "" : QuotedData(name, text);
}

std::string QuotedData(absl::string_view name, absl::string_view text) {
  if (absl::StripAsciiWhitespace(text).empty()) return "";
  const std::string safe =
      absl::StrReplaceAll(SafeText(text), {{"</data", "<\\/data"}, {"<data", "<\\data"}});
  return absl::StrCat("<data name=\"", name, "\">\n", absl::StripTrailingAsciiWhitespace(safe),
                      "\n</data>\n");
}

}  // namespace ksearch
