// A run as one file for people to look at: a trace, or a report.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/chrome_trace.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "common/grpc_channel.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

absl::StatusOr<std::string> TraceOf(Client* client, const Options& options) {
  v1::GetRunRequest run_request;
  run_request.set_run_id(options.run_id);
  ASSIGN_OR_RETURN(const v1::RunStatus run, (client->Call<v1::GetRunRequest, v1::RunStatus>(
                                                &v1::SearchService::Stub::GetRun, run_request)));
  v1::ReadTimelineRequest request;
  request.set_run_id(run.run_id());
  const auto context = ContextWithDeadline(absl::Hours(1));
  const auto reader = client->stub().ReadTimeline(context.get(), request);
  std::vector<v1::TimelineEntry> entries;
  v1::TimelineEntry entry;
  while (reader->Read(&entry)) entries.push_back(entry);
  RETURN_IF_ERROR(FromGrpc(reader->Finish()));
  return ChromeTrace(run.run_id(), entries);
}

absl::StatusOr<std::string> ReportOf(Client* client, const Options& options) {
  v1::ExportReportRequest request;
  request.set_run_id(options.run_id);
  const auto context = ContextWithDeadline(absl::Hours(1));
  const auto reader = client->stub().ExportReport(context.get(), request);
  std::string html;
  v1::ReportPart part;
  while (reader->Read(&part)) html += part.html();
  RETURN_IF_ERROR(FromGrpc(reader->Finish()));
  return html;
}

struct View {
  absl::string_view format;
  absl::StatusOr<std::string> (*make)(Client* client, const Options& options);
};
// Names are those of the option --format (options.cc).
constexpr View kViews[] = {{"trace", TraceOf}, {"html", ReportOf}};

}  // namespace

bool IsViewFormat(absl::string_view format) {
  for (const View& view : kViews) {
    if (view.format == format) return true;
  }
  return false;
}

int ExportViewCommand(Client* client, const Options& options) {
  const bool to_stdout = options.out == "-";
  if (!to_stdout && !options.force && ::access(options.out.c_str(), F_OK) == 0) {
    return Fail(absl::AlreadyExistsError(
        absl::StrCat(options.out, " exists; choose another file, or give --force")));
  }
  for (const View& view : kViews) {
    if (view.format != options.format) continue;
    const auto text = view.make(client, options);
    if (!text.ok()) return Fail(client->Explain(text.status()));
    if (to_stdout) {
      std::fwrite(text->data(), 1, text->size(), stdout);
      return kExitOk;
    }
    if (const absl::Status written = WriteFileAtomically(options.out, *text); !written.ok()) {
      return Fail(written);
    }
    if (options.json) return PrintJson({{"file", options.out}});
    std::printf("%s\n", options.out.c_str());
    return kExitOk;
  }
  return Fail(absl::InternalError(absl::StrCat("no such format: ", options.format)));
}

}  // namespace ksearch
