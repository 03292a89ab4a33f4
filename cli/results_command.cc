// Lists results on record, and which of them still count.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/text.h"
#include "common/platform.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

std::string KindText(v1::JobKind kind) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::JobKind_Name(kind), "JOB_KIND_"));
}

}  // namespace

int ResultsCommand(Client* client, const Options& options) {
  v1::ListResultsRequest request;
  request.set_stale(options.stale);
  request.set_task(options.task);
  request.set_limit(options.result_limit);
  const auto reply =
      client->Call<v1::ListResultsRequest, v1::ListResultsReply>(&Stub::ListResults, request);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  std::vector<std::vector<std::string>> rows = {
      {"job", "kind", "task", "candidate", "outcome", "recorded", "measured with", "counts"}};
  for (const v1::ResultSummary& result : reply->results()) {
    rows.push_back(
        {ShortId(result.job_id()), KindText(result.kind()), result.task(),
         ShortId(result.candidate_id()), OutcomeText(result.outcome()),
         absl::FormatTime("%Y-%m-%d %H:%M", FromProto(result.recorded_at()), absl::UTCTimeZone()),
         result.has_platform() ? PlatformText(result.platform()) : "-",
         result.stale().empty() ? "yes" : "no: " + result.stale()});
  }
  std::fputs(Table(rows).c_str(), stdout);
  if (reply->more()) {
    std::fprintf(stderr, "ksearch: there are more; --limit shows up to 1000\n");
  }
  return kExitOk;
}

}  // namespace ksearch
