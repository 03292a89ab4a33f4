#ifndef KSEARCH_COORDINATOR_SERVICE_ARCHIVE_ROOM_H_
#define KSEARCH_COORDINATOR_SERVICE_ARCHIVE_ROOM_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "coordinator/service/disk_watch.h"
#include "coordinator/service/worker_gateway.h"
#include "coordinator/store/run_archive.h"
#include "coordinator/store/store.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Where copies of the database are made that are sent away, one at a time, in a folder of its own;
// and the removal of runs, which only takes what the newest archive has. Thread-safe; its methods
// block.
class ArchiveRoom {
 public:
  struct Parts {
    std::string database;  // its file
    std::string folder;    // on the same disk; made with the first copy
    Store* store = nullptr;
    WorkerGateway* workers = nullptr;
    const DiskWatch* disk = nullptr;
  };
  // Empties the folder: an earlier process may have left a copy behind.
  static absl::StatusOr<std::unique_ptr<ArchiveRoom>> Open(Parts parts);

  // A file in the room. With this object it goes, and the room is free for another.
  class Copy {
   public:
    Copy(ArchiveRoom* room, std::string path) : room_(room), path_(std::move(path)) {}
    ~Copy();
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    const std::string& path() const { return path_; }

   private:
    ArchiveRoom* const room_;
    const std::string path_;
  };
  // Errors of both: ABORTED, another copy is there; RESOURCE_EXHAUSTED, it would not fit.
  absl::StatusOr<std::unique_ptr<Copy>> MakeBackup();
  struct Archive {
    ArchivePlan plan;
    std::unique_ptr<Copy> copy;  // null: no run is chosen
  };
  // Errors also as ksearch::MakeArchive.
  absl::StatusOr<Archive> MakeArchive(const RunChoice& choice);
  absl::StatusOr<ArchivePlan> Plan(const RunChoice& choice) const;

  // The archive has this digest; from now on RemoveRuns means what is in it.
  void Remember(ArchivePlan plan, const std::string& sha256);
  // As SearchService.RemoveRuns says.
  absl::StatusOr<v1::RemoveRunsReply> RemoveRuns(const std::string& sha256);

 private:
  explicit ArchiveRoom(Parts parts) : parts_(std::move(parts)) {}
  // Whether `bytes` more leave enough of the disk. `reserve`: as a share of what is to stay free.
  absl::Status CheckFits(int64_t bytes, double reserve) const;
  absl::StatusOr<std::unique_ptr<Copy>> Take();

  const Parts parts_;
  Mutex removing_;  // one removal after the other; before mu_
  Mutex mu_;
  bool taken_ ABSL_GUARDED_BY(mu_) = false;
  ArchivePlan newest_ ABSL_GUARDED_BY(mu_);
  std::string newest_sha256_ ABSL_GUARDED_BY(mu_);  // empty: there is none
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ARCHIVE_ROOM_H_
