#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/task/flashinfer_export.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

absl::StatusOr<FlashInferExport> Export(Client* client, const Options& options) {
  v1::GetBestRequest request;
  request.set_run_id(options.run_id);
  ASSIGN_OR_RETURN(const v1::BestReply best,
                   (client->Call<v1::GetBestRequest, v1::BestReply>(&Stub::GetBest, request)));
  // Without the name of its suite.
  const std::string definition = best.task().substr(best.task().find('/') + 1);
  ASSIGN_OR_RETURN(FlashInferExport made,
                   MakeFlashInferExport(best, definition, options.out, absl::Now()));
  RETURN_IF_ERROR(WriteFlashInferExport(made, options.out));
  return made;
}

}  // namespace

int ExportSolutionCommand(Client* client, const Options& options) {
  const absl::StatusOr<FlashInferExport> made = Export(client, options);
  if (!made.ok()) return Fail(made.status());
  if (options.json) {
    return PrintJson({{"solution", made->solution_path}, {"traces", made->traces_path}});
  }
  std::printf("%s\n%s: %d workloads added\n", made->solution_path.c_str(),
              made->traces_path.c_str(), made->workloads);
  return kExitOk;
}

}  // namespace ksearch
