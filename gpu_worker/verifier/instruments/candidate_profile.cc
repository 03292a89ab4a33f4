#include "gpu_worker/verifier/instruments/candidate_profile.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/log.h"
#include "common/measure_defaults.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "gpu_worker/profile/ncu_command.h"
#include "gpu_worker/profile/ncu_csv.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/instruments/instrumented_run.h"

namespace ksearch {
namespace {

constexpr int kProfiledLaunches = 8;
constexpr int kTries = 8;
constexpr int64_t kMaxReportBytes = int64_t{4} << 20;
constexpr absl::Duration kVersionTime = absl::Seconds(10);

// "ncu 2025.3.1.0"; "ncu" if the version is not known.
std::string ToolName(const Instrument& profiler) {
  SubprocessOptions options;
  options.argv = {profiler.path, "--version"};
  options.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/tmp"}};
  const auto said = RunCommand(std::move(options), kVersionTime, 4096);
  if (!said.ok()) return "ncu";
  constexpr absl::string_view kVersion = "Version ";
  const size_t at = said->out.find(kVersion.data(), 0, kVersion.size());
  if (at == std::string::npos) return "ncu";
  const size_t begin = at + kVersion.size();
  const size_t end = said->out.find_first_not_of("0123456789.", begin);
  return absl::StrCat("ncu ", said->out.substr(begin, std::min<size_t>(end - begin, 20)));
}

// Returns the metric that this version of ncu does not know, up to its first dot, or "" if the
// report is about something else.
std::string UnknownMetric(absl::string_view report) {
  constexpr absl::string_view kComplaint = "Failed to find metric ";
  const size_t at = report.find(kComplaint);
  if (at == absl::string_view::npos) return "";
  report.remove_prefix(at + kComplaint.size());
  absl::ConsumePrefix(&report, "regex:^");
  const auto end = std::find_if_not(report.begin(), report.end(),
                                    [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
  return std::string(report.begin(), end);
}

// Removes the metric from --metrics; false if it is not there.
bool RemoveMetric(const std::string& base, InstrumentCommand* command) {
  for (std::string& word : command->words) {
    std::vector<std::string> metrics = absl::StrSplit(word, ',');
    if (metrics.size() < 2) continue;
    const auto unknown = [&](const std::string& metric) {
      return metric.substr(0, metric.find('.')) == base;
    };
    const auto end = std::remove_if(metrics.begin(), metrics.end(), unknown);
    if (end == metrics.end()) continue;
    metrics.erase(end, metrics.end());
    word = absl::StrJoin(metrics, ",");
    return true;
  }
  return false;
}

v1::Profile Failed(absl::string_view why) {
  v1::Profile profile;
  profile.set_absence(v1::Profile::FAILED);
  profile.set_note(
      CleanText(absl::StrCat("the profiler gave nothing: ", why), kMaxProfileNoteBytes));
  return profile;
}

}  // namespace

InstrumentCommand ProfilerCommand(const Instrument& profiler) {
  InstrumentCommand command;
  command.folders = profiler.folders;
  command.words = {profiler.path};
  NcuLaunches launches;
  launches.count = kProfiledLaunches;
  for (std::string& word : NcuArguments(launches)) command.words.push_back(std::move(word));
  for (const char* word : {"--profile-from-start", "off", "--log-file", kInstrumentReportPath}) {
    command.words.push_back(word);
  }
  return command;
}

absl::StatusOr<v1::Profile> ProfileCandidate(Bench& bench, const Instrument& profiler,
                                             const ProgramImage& candidate,
                                             const std::shared_ptr<const WorkloadCase>& workload,
                                             const v1::Limits& limits) {
  const absl::Time start = bench.clock().SteadyNow();
  InstrumentCommand command = ProfilerCommand(profiler);
  InstrumentedRun run;
  // An unknown metric must not prevent measuring the others.
  for (int tries = 0; tries < kTries; ++tries) {
    ASSIGN_OR_RETURN(InstrumentedRunner runner,
                     InstrumentedRunner::Launch(bench, command, candidate, limits));
    ASSIGN_OR_RETURN(run, runner.Run(workload, /*calls=*/2, start + kProfileTime, kMaxReportBytes));
    const std::string unknown = UnknownMetric(run.report);
    if (unknown.empty() || bench.clock().SteadyNow() > start + kProfileTime / 2 ||
        !RemoveMetric(unknown, &command)) {
      break;
    }
    LOG(INFO) << "msg=\"the profiler does not know a metric\" metric=" << unknown;
  }
  absl::StatusOr<v1::Profile> read = ParseNcuCsv(run.report);
  LOG(INFO) << "msg=\"profile\" workload=" << workload->uuid()
            << " time=" << bench.clock().SteadyNow() - start
            << " report_bytes=" << run.report.size() << " trouble=\"" << run.trouble << "\" read=\""
            << read.status().message() << "\"";
  v1::Profile profile =
      read.ok() ? *std::move(read)
                : Failed(absl::StrCat(
                      run.trouble.empty() ? std::string(read.status().message()) : run.trouble,
                      run.output.empty() ? "" : "; printed: ", run.output));
  profile.set_tool(ToolName(profiler));
  profile.set_calls(1);
  return profile;
}

absl::StatusOr<v1::Verdict> CarryOutProfile(Bench& bench, const v1::VerifierRequest& request,
                                            const std::function<void()>& begins) {
  if (request.job().workload_uuids().empty()) {
    return absl::InvalidArgumentError("job.workload_uuids is empty");
  }
  v1::Verdict verdict;
  verdict.set_outcome(v1::OUTCOME_PASSED);
  *verdict.mutable_isolation() = bench.starter().isolation();
  const absl::StatusOr<Instrument>& profiler = bench.profiler();
  if (!profiler.ok()) {
    verdict.mutable_profile()->set_absence(v1::Profile::NO_PROFILER);
    verdict.mutable_profile()->set_note(std::string(profiler.status().message()));
    return verdict;
  }
  begins();
  ASSIGN_OR_RETURN(const ProgramImage candidate, ProgramImage::Open(request.candidate()));
  ASSIGN_OR_RETURN(const v1::Workload* workload,
                   FindWorkload(request.task(), request.job().workload_uuids(0)));
  ASSIGN_OR_RETURN(
      const std::shared_ptr<const WorkloadCase> made,
      bench.Case(request.task(), request.task_sha256(), *workload, bench.DrawScreeningSeed()));
  ASSIGN_OR_RETURN(
      *verdict.mutable_profile(),
      ProfileCandidate(bench, *profiler, candidate, made, WithDefaults(request.job().limits())));
  verdict.mutable_profile()->set_workload_uuid(made->uuid());
  return verdict;
}

}  // namespace ksearch
