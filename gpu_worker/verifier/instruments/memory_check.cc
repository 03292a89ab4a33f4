#include "gpu_worker/verifier/instruments/memory_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/instruments/instrumented_run.h"
#include "gpu_worker/verifier/instruments/sanitizer_report.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxNoteBytes = 1024;

struct Tool {
  const char* name;
  // Two variants for memcheck, because what a first call leaves behind may break a second one.
  int calls;
  bool cheap;  // also runs in an examination
};
// The most reliable first. Without initcheck, which breaks memory that another process allocated
// (version 2025.3.1: error 719 at the first copy); a hidden case detects reads of an unwritten
// workspace.
constexpr Tool kTools[] = {{"memcheck", 2, true}, {"racecheck", 1, true}, {"synccheck", 1, false}};

}  // namespace

Ending Judge(const v1::SanitizerFinding& finding) {
  if (finding.warning()) return {};
  v1::Outcome outcome = v1::OUTCOME_RUNTIME_ERROR;
  switch (finding.kind()) {
    case v1::SanitizerFinding::OUT_OF_BOUNDS:
      outcome = v1::OUTCOME_OUT_OF_BOUNDS;
      break;
    case v1::SanitizerFinding::RACE:
    case v1::SanitizerFinding::BAD_SYNCHRONIZATION:
    case v1::SanitizerFinding::UNINITIALIZED:
      // The numbers were right only by luck.
      outcome = v1::OUTCOME_INCORRECT;
      break;
    default:
      break;
  }
  return {outcome, absl::StrCat("compute-sanitizer ", finding.tool(), ": ", finding.text())};
}

bool NeedsSecondWitness(const v1::SanitizerFinding& finding) {
  return finding.kind() == v1::SanitizerFinding::RACE ||
         finding.kind() == v1::SanitizerFinding::BAD_SYNCHRONIZATION;
}

absl::StatusOr<MemoryCheck> CheckMemory(Bench& bench, const Instrument& sanitizer,
                                        const ProgramImage& candidate,
                                        const std::shared_ptr<const WorkloadCase>& workload,
                                        const v1::Limits& limits, Thoroughness thoroughness) {
  const Clock& clock = bench.clock();
  const bool cheap = thoroughness == Thoroughness::kCheap;
  const absl::Time start = clock.SteadyNow();
  const absl::Time deadline = start + (cheap ? kCheapSanitizerTime : kSanitizerTime);
  MemoryCheck check;
  std::vector<std::string> notes;
  // Starting takes most of the time, so all start side by side.
  std::vector<std::pair<const Tool*, InstrumentedRunner>> runners;
  for (const Tool& tool : kTools) {
    if (cheap && !tool.cheap) continue;
    ASSIGN_OR_RETURN(InstrumentedRunner runner,
                     InstrumentedRunner::Launch(bench, SanitizerCommand(sanitizer, tool.name),
                                                candidate, limits));
    runners.emplace_back(&tool, std::move(runner));
  }
  for (auto& [each, runner] : runners) {
    const Tool& tool = *each;
    const absl::Time tool_start = clock.SteadyNow();
    const absl::Time tool_deadline = std::min(deadline, tool_start + kSanitizerToolTime);
    if (tool_start >= deadline || !check.ending.passed()) break;
    ASSIGN_OR_RETURN(const InstrumentedRun run,
                     runner.Run(workload, tool.calls, tool_deadline,
                                static_cast<int64_t>(kMaxSanitizerReportBytes)));
    SanitizerLog log = ReadSanitizerReport(tool.name, run.report);
    LOG(INFO) << "msg=\"compute-sanitizer\" tool=" << tool.name << " workload=" << workload->uuid()
              << " findings=" << log.findings.size() << " complete=" << log.complete
              << " time=" << clock.SteadyNow() - tool_start << " trouble=\"" << run.trouble << "\"";
    if (log.complete && (run.trouble.empty() || !log.findings.empty())) {
      check.report.add_tools(tool.name);
    } else {
      notes.push_back(absl::StrCat(
          tool.name, ": ",
          !log.trouble.empty() ? log.trouble : (run.trouble.empty() ? "no summary" : run.trouble)));
    }
    for (v1::SanitizerFinding& finding : log.findings) {
      Ending& ending = NeedsSecondWitness(finding) ? check.alarm : check.ending;
      if (ending.passed()) ending = Judge(finding);
      *check.report.add_findings() = std::move(finding);
    }
  }
  if (!notes.empty()) {
    check.report.set_note(
        CleanText(absl::StrCat("not checked by compute-sanitizer: ", absl::StrJoin(notes, "; ")),
                  kMaxNoteBytes));
  }
  *check.report.mutable_time() = ToProto(clock.SteadyNow() - start);
  return check;
}

}  // namespace ksearch
