#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/compare/experiment_cost.h"
#include "cli/compare/experiment_plan.h"
#include "cli/compare/experiment_report.h"
#include "cli/compare/experiment_runner.h"
#include "cli/compare/report_page.h"
#include "cli/compare/report_text.h"
#include "cli/json_output.h"
#include "cli/seed_programs.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {

namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kRun = "run:";

// Checks that the report can be written, before the user has waited for it.
absl::Status CheckPlaceOf(const std::string& html_file) {
  if (html_file.empty()) return absl::OkStatus();
  const fs::path folder = fs::absolute(html_file).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--html ", html_file, ": folder ", folder.string(),
                   " is not writable: ", std::generic_category().message(errno)));
}

// INVALID_ARGUMENT names the field.
absl::StatusOr<SeedsByTask> ReadSeeds(Client* client, const v1::Experiment& experiment,
                                      const std::string& file) {
  SeedsByTask seeds;
  for (int i = 0; i < experiment.seed_solutions_size(); ++i) {
    const v1::ExperimentSeeds& given = experiment.seed_solutions(i);
    std::vector<std::string> values;
    for (const std::string& program : given.programs()) {
      const bool path = !absl::StartsWith(program, kRun);
      values.push_back(path ? (fs::path(file).parent_path() / program).string() : program);
    }
    ASSIGN_OR_RETURN(seeds[given.task()],
                     ReadSeedPrograms(
                         values, given.task(),
                         [client](const std::string& run_id) {
                           v1::GetBestRequest best;
                           best.set_run_id(run_id);
                           return client->Call<v1::GetBestRequest, v1::BestReply>(
                               &v1::SearchService::Stub::GetBest, best);
                         },
                         absl::StrCat(file, ": seed_solutions[", i, "].programs:")));
  }
  return seeds;
}

}  // namespace

int CompareCommand(Client* client, const Options& options) {
  const auto experiment = ReadExperiment(options.experiment_file);
  if (!experiment.ok()) return Fail(absl::InvalidArgumentError(experiment.status().message()));
  auto seeds = ReadSeeds(client, *experiment, options.experiment_file);
  if (!seeds.ok()) return Fail(seeds.status());
  const bool tty = ::isatty(STDERR_FILENO) == 1;
  ExperimentRunner runner(client, *experiment, *std::move(seeds), [tty](const std::string& line) {
    std::fprintf(stderr, tty ? "\r\033[K%s" : "%s\n", line.c_str());
    std::fflush(stderr);
  });
  const auto estimates = runner.Estimate();
  if (!estimates.ok()) return Fail(estimates.status());
  if (const absl::Status status = CheckBudgets(*experiment, *estimates); !status.ok()) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat(options.experiment_file, ": ", std::string(status.message()))));
  }
  if (const absl::Status status = runner.CheckRecorded(*estimates); !status.ok()) {
    return Fail(status);
  }
  if (options.dry_run) {
    const v1::ExperimentCost cost = CostOf(*experiment, *estimates);
    if (options.json) return PrintJson(cost);
    std::fputs(CostText(*experiment, cost).c_str(), stdout);
    return kExitOk;
  }
  if (const absl::Status status = CheckPlaceOf(options.html_file); !status.ok()) {
    return Fail(status);
  }
  if (!options.json) {
    std::fprintf(stderr, "leaving this view does not stop the runs; the same command continues\n");
  }
  auto trials = runner.Run();
  if (tty) std::fprintf(stderr, "\r\033[K");
  if (!trials.ok()) return Fail(trials.status());
  v1::Experiment named = *experiment;
  for (const ArmEstimate& each : *estimates) {
    named.mutable_arms(each.arm)->mutable_config()->set_strategy(each.estimate.config().strategy());
  }
  const v1::ExperimentReport report = MakeReport(named, *std::move(trials));
  if (!options.html_file.empty()) {
    const absl::Status written = WriteFileAtomically(options.html_file, ReportPage(report));
    if (!written.ok()) {
      std::fprintf(stderr, "ksearch: --html: %s\n", std::string(written.message()).c_str());
      return kExitOther;
    }
  }
  if (options.json) {
    PrintJson(report);
  } else {
    std::fputs(ReportText(report).c_str(), stdout);
  }
  return runner.unfinished() > 0 ? kExitUnavailable : kExitOk;
}

}  // namespace ksearch
