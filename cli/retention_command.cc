// Copies of a coordinator's database: all of it, or the runs that are to be removed from it.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/received_file.h"
#include "cli/text.h"
#include "common/grpc_channel.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

// Only guards against a coordinator that hangs.
constexpr absl::Duration kLongestTransfer = absl::Hours(24);
constexpr absl::Duration kLongestRemoval = absl::Hours(1);

std::string SizeText(int64_t bytes) {
  if (bytes < (int64_t{1} << 20))
    return absl::StrFormat("%.1f KiB", static_cast<double>(bytes) / 1024);
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

absl::Status NoEnd() {
  return absl::UnavailableError("the coordinator ended the transfer in the middle; try again");
}

absl::StatusOr<v1::TransferEnd> ReceiveBackup(Client* client, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, ReceivedFile::Create(path, /*replace=*/true));
  const auto context = ContextWithDeadline(kLongestTransfer);
  const auto reader = client->stub().Backup(context.get(), v1::BackupRequest());
  v1::BackupPart part;
  v1::TransferEnd end;
  absl::Status status = absl::OkStatus();
  bool whole = false;
  while (status.ok() && reader->Read(&part)) {
    if (part.has_end()) {
      end = part.end();
      whole = true;
    } else {
      status = file->Append(part.content());
    }
  }
  if (!status.ok()) context->TryCancel();
  const absl::Status ended = FromGrpc(reader->Finish());
  RETURN_IF_ERROR(status);
  if (!ended.ok()) return client->Explain(ended);
  if (!whole) return NoEnd();
  RETURN_IF_ERROR(file->Finish(end));
  return end;
}

struct Received {
  v1::ArchiveContents contents;
  v1::TransferEnd end;  // without a digest if no archive was made
};

// `path` empty: contents only.
absl::StatusOr<Received> ReceiveArchive(Client* client, const v1::ArchiveRunsRequest& request,
                                        const std::string& path) {
  std::unique_ptr<ReceivedFile> file;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(file, ReceivedFile::Create(path, /*replace=*/false));
  }
  const auto context = ContextWithDeadline(kLongestTransfer);
  const auto reader = client->stub().ArchiveRuns(context.get(), request);
  Received received;
  v1::ArchivePart part;
  absl::Status status = absl::OkStatus();
  while (status.ok() && reader->Read(&part)) {
    if (part.has_contents()) {
      received.contents = part.contents();
    } else if (part.has_end()) {
      received.end = part.end();
    } else if (file != nullptr) {
      status = file->Append(part.content());
    }
  }
  if (!status.ok()) context->TryCancel();
  const absl::Status ended = FromGrpc(reader->Finish());
  RETURN_IF_ERROR(status);
  if (!ended.ok()) return client->Explain(ended);
  if (file == nullptr || received.contents.runs().empty()) return received;
  if (received.end.sha256().empty()) return NoEnd();
  RETURN_IF_ERROR(file->Finish(received.end));
  return received;
}

void PrintContents(const v1::ArchiveContents& contents) {
  std::vector<std::vector<std::string>> rows = {
      {"run", "task", "ended", "results", "of size", "model calls", "of size"}};
  for (const v1::ArchivedRun& run : contents.runs()) {
    rows.push_back(
        {run.run_id(), run.task(),
         run.has_ended_at()
             ? absl::FormatTime("%Y-%m-%d %H:%M", FromProto(run.ended_at()), absl::LocalTimeZone())
             : "-",
         absl::StrCat(run.results()), SizeText(run.result_bytes()), absl::StrCat(run.llm_calls()),
         SizeText(run.llm_call_bytes())});
  }
  if (!contents.runs().empty()) std::fputs(Table(rows).c_str(), stdout);
  if (!contents.left_out().empty()) {
    std::printf("run %s is old enough, but has the newest event and stays\n",
                contents.left_out().c_str());
  }
}

}  // namespace

int BackupCommand(Client* client, const Options& options) {
  const auto end = ReceiveBackup(client, options.out);
  if (!end.ok()) return Fail(end.status());
  if (options.json) {
    return PrintJson(
        {{"file", options.out}, {"bytes", absl::StrCat(end->bytes())}, {"sha256", end->sha256()}});
  }
  std::printf("%s: %s, a database that a coordinator can be started on (docs/operations.md)\n",
              options.out.c_str(), SizeText(end->bytes()).c_str());
  return kExitOk;
}

int GcCommand(Client* client, const Options& options) {
  v1::ArchiveRunsRequest request;
  request.set_dry_run(options.dry_run);
  for (const std::string& run_id : options.gc_runs) request.add_run_ids(run_id);
  if (options.gc_before.has_value()) {
    *request.mutable_ended_before() = ToProto(*options.gc_before);
  } else if (options.gc_older_than.has_value()) {
    *request.mutable_ended_before() = ToProto(absl::Now() - *options.gc_older_than);
  }
  const auto archived = ReceiveArchive(client, request, options.dry_run ? "" : options.out);
  if (!archived.ok()) return Fail(archived.status());
  if (options.json && options.dry_run) return PrintJson(archived->contents);
  if (!options.json) PrintContents(archived->contents);
  if (archived->contents.runs().empty()) {
    if (options.json) return PrintJson(v1::RemoveRunsReply());
    std::printf("no run is to be removed\n");
    return kExitOk;
  }
  if (options.dry_run) {
    std::printf("%d runs and %d blobs (%s) would be removed; nothing has changed\n",
                archived->contents.runs_size(), static_cast<int>(archived->contents.blobs()),
                SizeText(archived->contents.blob_bytes()).c_str());
    return kExitOk;
  }
  v1::RemoveRunsRequest remove;
  remove.set_archive_sha256(archived->end.sha256());
  const auto removed = client->Call<v1::RemoveRunsRequest, v1::RemoveRunsReply>(
      &Stub::RemoveRuns, remove, kLongestRemoval);
  if (!removed.ok()) {
    return Fail(Annotate(removed.status(), absl::StrCat(options.out, " has the runs")));
  }
  if (options.json) return PrintJson(*removed);
  std::printf(
      "%s has them (%s); they are removed, and %s of the database are free for what comes\n",
      options.out.c_str(), SizeText(archived->end.bytes()).c_str(),
      SizeText(removed->reusable_bytes()).c_str());
  return kExitOk;
}

}  // namespace ksearch
