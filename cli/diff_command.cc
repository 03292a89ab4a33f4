#include <cstdio>

#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/line_diff.h"
#include "cli/text.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

// What a word on the command line names.
struct Named {
  std::string candidate_id;
  std::string parent_candidate_id;
  v1::Sources sources;
};

absl::StatusOr<Named> Find(Client* client, const std::string& run_id, std::string word) {
  if (word == "best") {
    v1::GetBestRequest request;
    request.set_run_id(run_id);
    const auto best = client->Call<v1::GetBestRequest, v1::BestReply>(&Stub::GetBest, request);
    if (!best.ok()) return best.status();
    word = best->best().candidate_id();
  }
  v1::GetCandidateRequest request;
  request.set_run_id(run_id);
  request.set_candidate_id(word);
  const auto reply =
      client->Call<v1::GetCandidateRequest, v1::CandidateReply>(&Stub::GetCandidate, request);
  if (!reply.ok()) return reply.status();
  return Named{reply->candidate_id(), reply->parent_candidate_id(), reply->sources()};
}

}  // namespace

int DiffCommand(Client* client, const Options& options) {
  const auto first = Find(client, options.run_id, options.candidate_id);
  if (!first.ok()) return Fail(first.status());
  Named before, after = *first;
  if (!options.other_candidate_id.empty()) {
    const auto second = Find(client, options.run_id, options.other_candidate_id);
    if (!second.ok()) return Fail(second.status());
    before = *first;
    after = *second;
  } else if (!first->parent_candidate_id.empty()) {
    const auto parent = Find(client, options.run_id, first->parent_candidate_id);
    if (!parent.ok()) return Fail(parent.status());
    before = *parent;
  }
  const std::string diff = SourcesDiff(before.sources, after.sources);
  if (options.json) {
    return PrintJson(
        {{"before", before.candidate_id}, {"after", after.candidate_id}, {"diff", diff}});
  }
  std::fputs(diff.c_str(), stdout);
  if (diff.empty()) {
    std::fprintf(stderr, "ksearch: %s and %s are the same program\n",
                 ShortId(before.candidate_id).c_str(), ShortId(after.candidate_id).c_str());
  }
  return kExitOk;
}

}  // namespace ksearch
