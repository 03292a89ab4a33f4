#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/text.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

// Whether the solution can be judged, and why not.
std::string JudgeableText(const v1::SolutionSummary& solution) {
  if (!solution.error().empty()) return absl::StrCat("NO: ", solution.error());
  if (solution.missing_size() == 0) return "yes";
  return absl::StrCat("NO: no connected worker's Python has ",
                      absl::StrJoin(solution.missing(), ", "));
}

std::string SolutionsText(const v1::ListSolutionsReply& reply) {
  std::vector<std::vector<std::string>> rows = {
      {"solution", "author", "language", "binding", "depends on", "can be judged", "on record"}};
  for (const v1::SolutionSummary& solution : reply.solutions()) {
    rows.push_back({solution.name(), solution.author(), solution.language(), solution.binding(),
                    absl::StrJoin(solution.dependencies(), ","), JudgeableText(solution),
                    solution.recorded()});
  }
  return Table(rows);
}

}  // namespace

int SolutionsCommand(Client* client, const Options& options) {
  v1::ListSolutionsRequest request;
  request.set_task(options.task);
  const auto reply =
      client->Call<v1::ListSolutionsRequest, v1::ListSolutionsReply>(&Stub::ListSolutions, request);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  if (reply->solutions().empty()) {
    std::printf("no solution of %s is published in its suite\n", options.task.c_str());
    return kExitOk;
  }
  std::fputs(SolutionsText(*reply).c_str(), stdout);
  return kExitOk;
}

}  // namespace ksearch
