#include "coordinator/service/archive_room.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// A backup keeps the whole reserve free. An archive may use half of it, since it soon frees that
// space, and is needed most when the disk is nearly full.
constexpr double kBackupReserve = 1.0;
constexpr double kArchiveReserve = 0.5;

int64_t BytesOf(const std::string& path) {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0 ? static_cast<int64_t>(facts.st_size) : 0;
}

// Includes the space for indexes and the database's pages.
int64_t ExpectedBytes(const v1::ArchiveContents& contents) {
  int64_t bytes = contents.blob_bytes();
  for (const v1::ArchivedRun& run : contents.runs()) {
    bytes += run.result_bytes() + run.llm_call_bytes();
  }
  return 2 * bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArchiveRoom>> ArchiveRoom::Open(Parts parts) {
  std::error_code error;
  std::filesystem::remove_all(parts.folder, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("empty ", parts.folder));
  return std::unique_ptr<ArchiveRoom>(new ArchiveRoom(std::move(parts)));
}

ArchiveRoom::Copy::~Copy() {
  ::unlink(path_.c_str());
  MutexLock lock(&room_->mu_);
  room_->taken_ = false;
}

absl::StatusOr<std::unique_ptr<ArchiveRoom::Copy>> ArchiveRoom::Take() {
  MutexLock lock(&mu_);
  if (taken_) {
    return absl::AbortedError(
        "another copy of the database is being made or sent; try again once that has ended");
  }
  // Created only now: a coordinator must also start on a full disk.
  if (::mkdir(parts_.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("create ", parts_.folder));
  }
  taken_ = true;
  return std::make_unique<Copy>(this, parts_.folder + "/copy.db");
}

absl::Status ArchiveRoom::CheckFits(int64_t bytes, double reserve) const {
  const auto space = parts_.disk->ReadSpace();
  if (!space.ok()) return absl::OkStatus();  // free space is unknown: let the write try
  const auto stays = static_cast<int64_t>(reserve * static_cast<double>(space->least_free_bytes));
  if (space->free_bytes - bytes >= stays) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("a copy of about ", bytes, " bytes, which is made in ", parts_.folder,
                   " before it is sent, does not fit: ", space->free_bytes, " bytes are free and ",
                   stays, " must stay free (least_free_bytes). Free some first"));
}

absl::StatusOr<std::unique_ptr<ArchiveRoom::Copy>> ArchiveRoom::MakeBackup() {
  ASSIGN_OR_RETURN(std::unique_ptr<Copy> copy, Take());
  RETURN_IF_ERROR(
      CheckFits(BytesOf(parts_.database) + BytesOf(parts_.database + "-wal"), kBackupReserve));
  RETURN_IF_ERROR(parts_.store->Backup(copy->path()));
  return copy;
}

absl::StatusOr<ArchivePlan> ArchiveRoom::Plan(const RunChoice& choice) const {
  return PlanArchive(parts_.database, choice);
}

absl::StatusOr<ArchiveRoom::Archive> ArchiveRoom::MakeArchive(const RunChoice& choice) {
  Archive archive;
  ASSIGN_OR_RETURN(std::unique_ptr<Copy> copy, Take());
  ASSIGN_OR_RETURN(archive.plan, Plan(choice));
  if (archive.plan.contents.runs().empty()) return archive;
  RETURN_IF_ERROR(CheckFits(ExpectedBytes(archive.plan.contents), kArchiveReserve));
  ASSIGN_OR_RETURN(archive.plan, ksearch::MakeArchive(parts_.database, choice, copy->path()));
  archive.copy = std::move(copy);
  return archive;
}

void ArchiveRoom::Remember(ArchivePlan plan, const std::string& sha256) {
  MutexLock lock(&mu_);
  newest_ = std::move(plan);
  newest_sha256_ = sha256;
}

absl::StatusOr<v1::RemoveRunsReply> ArchiveRoom::RemoveRuns(const std::string& sha256) {
  MutexLock one(&removing_);
  ArchivePlan plan;
  {
    MutexLock lock(&mu_);
    if (sha256.empty() || sha256 != newest_sha256_) {
      return absl::FailedPreconditionError(
          "archive_sha256: the newest archive that this coordinator has made since its start is "
          "another one; make the archive again, nothing was removed");
    }
    plan = newest_;
  }
  v1::RemoveRunsReply reply;
  // Called before and after the removal: a job that is asked for again must neither count as done
  // nor be completed by a late result.
  parts_.workers->ForgetDone(plan.job_ids);
  absl::Status status = absl::OkStatus();
  for (int i = 0; i < plan.contents.runs_size() && status.ok(); ++i) {
    const std::string& run_id = plan.contents.runs(i).run_id();
    const auto removed =
        parts_.store->RemoveRun(run_id, plan.last_event_seqs[static_cast<size_t>(i)]);
    status = removed.status();
    if (removed.ok() && *removed) reply.add_run_ids(run_id);
  }
  parts_.workers->ForgetDone(plan.job_ids);
  if (!status.ok()) {
    return Annotate(status, absl::StrCat(reply.run_ids_size(), " runs were removed before"));
  }
  RETURN_IF_ERROR(parts_.store->RemoveBlobs(plan.blobs));
  ASSIGN_OR_RETURN(const int64_t reusable, parts_.store->ReadReusableBytes());
  reply.set_reusable_bytes(reusable);
  LOG(INFO) << "msg=\"runs removed, the archive has them\" runs=" << reply.run_ids_size()
            << " archive_sha256=" << sha256;
  return reply;
}

}  // namespace ksearch
