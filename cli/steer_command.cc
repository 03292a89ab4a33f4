// `ksearch steer`: changes that people make in a run in progress.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/source_files.h"
#include "cli/text.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "proto/search_service.grpc.pb.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

constexpr char kRoot[] = "root";
constexpr double kScoreOfOwnIdea = 0.9;

absl::StatusOr<v1::SteerRunRequest> RequestOf(const Options& options) {
  v1::SteerRunRequest request;
  request.set_run_id(options.run_id);
  request.set_request_id(RandomHex(16));
  if (options.action == "pause" || options.action == "unpause") {
    request.set_pause(options.action == "pause");
  } else if (options.action == "score") {
    v1::UpdateNode* update = request.mutable_edits()->add_ops()->mutable_update();
    update->set_node_id(options.node_id);
    update->mutable_patch()->set_score(*options.score);
  } else if (options.action == "add") {
    v1::InsertNode* insert = request.mutable_edits()->add_ops()->mutable_insert();
    insert->set_parent_id(options.node_id.empty() ? kRoot : options.node_id);
    insert->mutable_node()->set_title(options.title);
    if (!options.description.empty()) insert->mutable_node()->set_description(options.description);
    insert->mutable_node()->set_score(options.score.value_or(kScoreOfOwnIdea));
  } else if (options.action == "prune") {
    v1::DeleteNode* remove = request.mutable_edits()->add_ops()->mutable_remove();
    remove->set_node_id(options.node_id);
    remove->set_reason(options.reason);
  } else {
    v1::GivenSolution* given = request.mutable_program();
    given->set_parent_id(options.node_id);
    given->set_title(options.title);
    ASSIGN_OR_RETURN(std::vector<v1::SourceFile> files, ReadSourceFiles(options.files));
    given->mutable_sources()->set_language(LanguageOf(files));
    for (v1::SourceFile& file : files) *given->mutable_sources()->add_files() = std::move(file);
  }
  return request;
}

}  // namespace

int SteerCommand(Client* client, const Options& options) {
  const auto request = RequestOf(options);
  if (!request.ok()) return Fail(request.status());
  const auto status = client->Call<v1::SteerRunRequest, v1::RunStatus>(&Stub::SteerRun, *request);
  if (!status.ok()) return Fail(status.status());
  if (options.json) return PrintJson(*status);
  std::printf("%s  %s\n", status->run_id().c_str(), StatusLine(*status).c_str());
  return kExitOk;
}

}  // namespace ksearch
