#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/task/flashinfer_export.h"
#include "cli/task/gpumode_export.h"
#include "cli/task/kernelbench_export.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

absl::StatusOr<v1::BestReply> BestOf(Client* client, const Options& options) {
  v1::GetBestRequest request;
  request.set_run_id(options.run_id);
  return client->Call<v1::GetBestRequest, v1::BestReply>(&Stub::GetBest, request);
}

int ToFlashInfer(Client*, const v1::BestReply& best, const Options& options) {
  // Without the name of its suite.
  const std::string definition = best.task().substr(best.task().find('/') + 1);
  const absl::StatusOr<FlashInferExport> made =
      MakeFlashInferExport(best, definition, options.out, absl::Now());
  if (!made.ok()) return Fail(made.status());
  if (const absl::Status written = WriteFlashInferExport(*made, options.out); !written.ok()) {
    return Fail(written);
  }
  if (options.json) {
    return PrintJson({{"solution", made->solution_path}, {"traces", made->traces_path}});
  }
  std::printf("%s\n%s: %d workloads added\n", made->solution_path.c_str(),
              made->traces_path.c_str(), made->workloads);
  return kExitOk;
}

int ToGpuMode(Client* client, const v1::BestReply& best, const Options& options) {
  const absl::Status written = ExportGpuMode(client, best, options.out, options.force);
  if (!written.ok()) return Fail(written);
  if (options.json) return PrintJson({{"submission", options.out}});
  std::printf("%s\n", options.out.c_str());
  return kExitOk;
}

int ToKernelBench(Client* client, const v1::BestReply& best, const Options& options) {
  const size_t slash = best.task().find('/');
  if (slash == std::string::npos) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("the run's task '", best.task(), "' is not a KernelBench problem")));
  }
  v1::ReportSuiteRequest request;
  request.set_suite(best.task().substr(0, slash));
  request.add_tasks(best.task().substr(slash + 1));
  request.set_run_id(best.run_id());
  request.set_device_model(best.confirmation().device().name());
  request.set_with_sources(true);
  const auto report =
      client->Call<v1::ReportSuiteRequest, v1::SuiteReport>(&Stub::ReportSuite, request);
  if (!report.ok()) return Fail(report.status());
  const auto files = KernelBenchRun(*report);
  if (!files.ok()) return Fail(files.status());
  const absl::Status written = WriteKernelBenchRun(*files, options.out, options.force);
  if (!written.ok()) return Fail(written);
  if (options.json) return PrintJson({{"folder", options.out}});
  for (const auto& [name, text] : *files) std::printf("%s/%s\n", options.out.c_str(), name.c_str());
  return kExitOk;
}

// Names are those of the option --format (options.cc).
struct Format {
  absl::string_view name;
  int (*write)(Client* client, const v1::BestReply& best, const Options& options);
};
constexpr Format kFormats[] = {
    {"flashinfer-bench", ToFlashInfer}, {"gpumode", ToGpuMode}, {"kernelbench", ToKernelBench}};

}  // namespace

int ExportSolutionCommand(Client* client, const Options& options) {
  const absl::StatusOr<v1::BestReply> best = BestOf(client, options);
  if (!best.ok()) return Fail(best.status());
  for (const Format& format : kFormats) {
    if (options.format == format.name) return format.write(client, *best, options);
  }
  return Fail(absl::InternalError(absl::StrCat("no such format: ", options.format)));
}

}  // namespace ksearch
