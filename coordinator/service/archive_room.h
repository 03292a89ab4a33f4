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

// Makes copies of the database for download, one at a time, in a folder of its own; and removes
// runs, but only those in the newest archive. Thread-safe; its methods block.
class ArchiveRoom {
 public:
  struct Parts {
    std::string database;  // the store's file
    std::string folder;    // on the same disk as the database; created with the first copy
    Store* store = nullptr;
    WorkerGateway* workers = nullptr;
    const DiskWatch* disk = nullptr;
  };
  // Empties the folder, because an earlier process may have left a copy.
  static absl::StatusOr<std::unique_ptr<ArchiveRoom>> Open(Parts parts);

  // A copy in the folder. Deleting the object removes the file and permits the next copy.
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
  // Both methods: ABORTED: another copy exists; RESOURCE_EXHAUSTED: the disk has too little space.
  absl::StatusOr<std::unique_ptr<Copy>> MakeBackup();
  struct Archive {
    ArchivePlan plan;
    std::unique_ptr<Copy> copy;  // null: no run is chosen
  };
  // Errors also as of ksearch::MakeArchive.
  absl::StatusOr<Archive> MakeArchive(const RunChoice& choice);
  absl::StatusOr<ArchivePlan> Plan(const RunChoice& choice) const;

  // Records the digest of the archive; RemoveRuns then removes the runs that it contains.
  void Remember(ArchivePlan plan, const std::string& sha256);
  // As documented for SearchService.RemoveRuns.
  absl::StatusOr<v1::RemoveRunsReply> RemoveRuns(const std::string& sha256);

 private:
  explicit ArchiveRoom(Parts parts) : parts_(std::move(parts)) {}
  // Checks that the disk still has enough space after `bytes` more. `reserve`: fraction of the
  // required free space to keep.
  absl::Status CheckFits(int64_t bytes, double reserve) const;
  absl::StatusOr<std::unique_ptr<Copy>> Take();

  const Parts parts_;
  Mutex removing_;  // serializes removals; acquired before mu_
  Mutex mu_;
  bool taken_ ABSL_GUARDED_BY(mu_) = false;
  ArchivePlan newest_ ABSL_GUARDED_BY(mu_);
  std::string newest_sha256_ ABSL_GUARDED_BY(mu_);  // empty: there is none
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ARCHIVE_ROOM_H_
