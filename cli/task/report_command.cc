// The standing of a suite's problems, from results on record.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/task/fast_p.h"
#include "cli/task/kernelbench_export.h"
#include "cli/task/kernelbench_samples.h"
#include "cli/task/samples_report.h"
#include "cli/text.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;
constexpr int64_t kMaxBaselineBytes = 4 << 20;
constexpr char kPassAtKFile[] = "pass_at_k_results.json";

}  // namespace

int SuiteReportCommand(Client* client, const Options& options) {
  BaselineTimes times;
  if (!options.baseline_file.empty()) {
    const auto read = [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string text, ReadFile(options.baseline_file, kMaxBaselineBytes));
      ASSIGN_OR_RETURN(times, ParseBaselineTimes(text, options.baseline_file));
      return absl::OkStatus();
    }();
    if (!read.ok()) return Fail(read);
  }
  if (!options.out.empty()) {
    const absl::Status takes = CheckTakesKernelBenchRun(options.out, options.force);
    if (!takes.ok()) return Fail(takes);
  }
  v1::ReportSuiteRequest request;
  request.set_suite(options.suite);
  for (const std::string& task : options.report_tasks) request.add_tasks(task);
  request.set_run_id(options.run_id);
  request.set_device_model(options.device_model);
  const bool judges_samples = !options.run_folder.empty();
  request.set_with_sources(!options.out.empty() && !judges_samples);
  auto report = client->Call<v1::ReportSuiteRequest, v1::SuiteReport>(&Stub::ReportSuite, request);
  if (!report.ok()) return Fail(report.status());
  if (judges_samples) {
    report = JudgeSamples(client, options, *report);
    if (!report.ok()) return Fail(report.status());
  }
  if (!options.out.empty()) {
    auto files = KernelBenchRun(*report);
    if (!files.ok()) return Fail(files.status());
    if (judges_samples) files->emplace(kPassAtKFile, PassAtKJson(*report));
    const absl::Status written = WriteKernelBenchRun(*files, options.out, options.force);
    if (!written.ok()) return Fail(written);
  }
  if (options.json) return PrintJson(*report);
  if (judges_samples) {
    std::fputs(SamplesText(*report).c_str(), stdout);
    if (!options.baseline_file.empty()) {
      std::printf("\nthe best sample of each problem, over %s:\n%s", options.baseline_file.c_str(),
                  FastPText(FastPOver(BestSamples(*report), times)).c_str());
    }
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {
      {"problem", "standing", "programs", "latency", "baseline", "speed-up"}};
  for (const v1::ProblemStanding& problem : report->problems()) {
    const bool timed = problem.candidate_us() > 0;
    rows.push_back({problem.task(), StandingText(problem, "not attempted"),
                    absl::StrFormat("%d of %d", problem.passed(), problem.evaluations()),
                    timed ? LatencyText(problem.candidate_us()) : "-",
                    problem.baseline_us() > 0 ? LatencyText(problem.baseline_us()) : "-",
                    problem.speedup() > 0 ? absl::StrFormat("%.2fx%s", problem.speedup(),
                                                            problem.confirmed() ? " confirmed" : "")
                                          : "-"});
  }
  std::fputs(Table(rows).c_str(), stdout);
  std::printf("\non %s, over the baseline timed here:\n%s",
              report->device_model().empty() ? "no device yet" : report->device_model().c_str(),
              FastPText(FastPOf(*report)).c_str());
  if (!options.baseline_file.empty()) {
    std::printf("\nover %s:\n%s", options.baseline_file.c_str(),
                FastPText(FastPOver(*report, times)).c_str());
  }
  return kExitOk;
}

}  // namespace ksearch
