// The RPCs that send a copy of the database, as a whole (backup) or its ended runs (archive), and
// that remove archived runs.
#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/grpc_channel.h"
#include "common/mapped_file.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/service/archive_room.h"
#include "coordinator/service/search_service.h"

namespace ksearch {
namespace {

constexpr size_t kPartBytes = size_t{1} << 20;
constexpr int kMostNamedRuns = 10'000;

absl::Status CheckHasRoom(const ArchiveRoom* room) {
  if (room != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError("this coordinator makes no copies of its database");
}

absl::StatusOr<RunChoice> ChoiceOf(const v1::ArchiveRunsRequest& request) {
  if (request.run_ids_size() > kMostNamedRuns) {
    return absl::InvalidArgumentError(
        absl::StrCat("run_ids: ", request.run_ids_size(), " are more than ", kMostNamedRuns));
  }
  RunChoice choice;
  for (const std::string& run_id : request.run_ids()) {
    if (run_id.empty() || run_id == "last") {
      return absl::InvalidArgumentError(
          "run_ids: name runs by their ids; the last one is never removed");
    }
    choice.runs.push_back(run_id);
  }
  if (request.has_ended_before()) {
    choice.ended_before = FromProto(request.ended_before());
    if (choice.ended_before <= absl::UnixEpoch()) {
      return absl::InvalidArgumentError("ended_before: is before any run");
    }
  } else if (choice.runs.empty()) {
    return absl::InvalidArgumentError(
        "run_ids and ended_before are both missing: say which runs are meant");
  }
  return choice;
}

// Sends the file in pieces, then the end message. Calls `may_go_on` before each piece, and `end`
// with the last message before it is sent.
template <typename Part>
absl::Status SendFile(const std::string& path, absl::FunctionRef<absl::Status()> may_go_on,
                      absl::FunctionRef<void(const v1::TransferEnd&)> end,
                      grpc::ServerWriter<Part>* writer) {
  ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  absl::string_view rest = file->bytes();
  Part part;
  while (!rest.empty()) {
    RETURN_IF_ERROR(may_go_on());
    const absl::string_view piece = rest.substr(0, kPartBytes);
    part.set_content(std::string(piece));
    if (!writer->Write(part)) return absl::CancelledError("the caller went away");
    rest.remove_prefix(piece.size());
  }
  v1::TransferEnd facts;
  facts.set_bytes(static_cast<int64_t>(file->bytes().size()));
  facts.set_sha256(Sha256Hex(file->bytes()));
  end(facts);
  *part.mutable_end() = std::move(facts);
  if (!writer->Write(part)) return absl::CancelledError("the caller went away");
  return absl::OkStatus();
}

}  // namespace

grpc::Status SearchService::Backup(grpc::ServerContext* context, const v1::BackupRequest*,
                                   grpc::ServerWriter<v1::BackupPart>* writer) {
  const auto send = [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckHasRoom(parts_.archives));
    ASSIGN_OR_RETURN(const auto copy, parts_.archives->MakeBackup());
    return SendFile(
        copy->path(), [&] { return CheckStillServed(*context); }, [](const v1::TransferEnd&) {},
        writer);
  };
  return ToGrpc(send());
}

grpc::Status SearchService::ArchiveRuns(grpc::ServerContext* context,
                                        const v1::ArchiveRunsRequest* request,
                                        grpc::ServerWriter<v1::ArchivePart>* writer) {
  const auto send = [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckHasRoom(parts_.archives));
    ASSIGN_OR_RETURN(const RunChoice choice, ChoiceOf(*request));
    ArchiveRoom::Archive archive;
    if (request->dry_run()) {
      ASSIGN_OR_RETURN(archive.plan, parts_.archives->Plan(choice));
    } else {
      ASSIGN_OR_RETURN(archive, parts_.archives->MakeArchive(choice));
    }
    v1::ArchivePart first;
    *first.mutable_contents() = archive.plan.contents;
    if (!writer->Write(first)) return absl::CancelledError("the caller went away");
    if (archive.copy == nullptr) return absl::OkStatus();
    return SendFile(
        archive.copy->path(), [&] { return CheckStillServed(*context); },
        [&](const v1::TransferEnd& end) {
          parts_.archives->Remember(std::move(archive.plan), end.sha256());
        },
        writer);
  };
  return ToGrpc(send());
}

grpc::Status SearchService::RemoveRuns(grpc::ServerContext*, const v1::RemoveRunsRequest* request,
                                       v1::RemoveRunsReply* reply) {
  const auto remove = [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckHasRoom(parts_.archives));
    ASSIGN_OR_RETURN(*reply, parts_.archives->RemoveRuns(request->archive_sha256()));
    return absl::OkStatus();
  };
  return ToGrpc(remove());
}

}  // namespace ksearch
