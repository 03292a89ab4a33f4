// The RPC by which people steer a run in progress.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/grpc_channel.h"
#include "common/language.h"
#include "common/program_limits.h"
#include "common/status_macros.h"
#include "coordinator/service/search_service.h"
#include "coordinator/views/run_view.h"

namespace ksearch {
namespace {

constexpr size_t kMostRequestIdBytes = 128;

// Brings the program into the form of its task's candidates. INVALID_ARGUMENT names what is wrong.
absl::Status ReadSolution(const TaskSuite& tasks, const v1::RunStatus& run, v1::Sources* sources) {
  if (sources->files().empty()) {
    return absl::InvalidArgumentError("program.sources.files is empty: give at least one file");
  }
  if (sources->files_size() > kMaxSourceFiles) {
    return absl::InvalidArgumentError(absl::StrCat("program.sources has ", sources->files_size(),
                                                   " files, at most ", kMaxSourceFiles,
                                                   " are allowed"));
  }
  int64_t bytes = 0;
  for (const v1::SourceFile& file : sources->files()) {
    bytes += static_cast<int64_t>(file.content().size());
  }
  if (bytes > kMaxSourceBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "program.sources has ", bytes, " bytes, at most ", kMaxSourceBytes, " are allowed"));
  }
  if (sources->language() == v1::LANGUAGE_UNSPECIFIED) sources->set_language(run.language());
  RETURN_IF_ERROR(tasks.Adapt(run.task(), sources));
  if (sources->language() != run.language()) {
    return absl::InvalidArgumentError(
        absl::StrCat("program.sources.language is ", LanguageName(sources->language()),
                     ", the run's is ", LanguageName(run.language())));
  }
  const LanguageFacts& language = FactsOf(run.language());
  if (HasMainFile(sources->files(), language)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("program.sources has no file that ends in ",
                                                 absl::StrJoin(language.main_extensions, " or ")));
}

}  // namespace

grpc::Status SearchService::SteerRun(grpc::ServerContext*, const v1::SteerRunRequest* request,
                                     v1::RunStatus* reply) {
  const absl::Status status = [&]() -> absl::Status {
    if (request->request_id().empty() || request->request_id().size() > kMostRequestIdBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("request_id must have 1 to ", kMostRequestIdBytes, " characters"));
    }
    if (request->change_case() == v1::SteerRunRequest::CHANGE_NOT_SET) {
      return absl::InvalidArgumentError("change: give pause, edits or program");
    }
    ASSIGN_OR_RETURN(const std::string run_id, parts_.store->ResolveRun(request->run_id()));
    v1::SteerRunRequest change = *request;
    if (change.has_program()) {
      ASSIGN_OR_RETURN(const v1::RunStatus run, parts_.store->ReadRunStatus(run_id));
      RETURN_IF_ERROR(
          ReadSolution(*parts_.tasks, run, change.mutable_program()->mutable_sources()));
    }
    RETURN_IF_ERROR(parts_.runs->Steer(run_id, change));
    ASSIGN_OR_RETURN(*reply, ViewRun(*parts_.store, *parts_.workers, run_id));
    return absl::OkStatus();
  }();
  return ToGrpc(status);
}

}  // namespace ksearch
