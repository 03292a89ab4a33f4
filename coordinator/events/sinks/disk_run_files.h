#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_DISK_RUN_FILES_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_DISK_RUN_FILES_H_

#include <cstdint>
#include <map>
#include <string>

#include "common/unique_fd.h"
#include "coordinator/events/sinks/run_recorder.h"

namespace ksearch::sinks {

// Files below a folder that are rebuilt from their beginning: appended bytes that the file already
// contains are only compared. Writing starts at the first byte that differs, or at the file's end.
// So a file that a crash cut short is completed, and one with other content is replaced. For one
// thread at a time.
class DiskRunFiles final : public RunFiles {
 public:
  explicit DiskRunFiles(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Append(const std::string& path, absl::string_view bytes) override;
  absl::Status Place(const std::string& path, absl::string_view content) override;
  // Makes everything that was written survive a power failure.
  absl::Status Sync();

 private:
  struct File {
    UniqueFd fd;
    int64_t position = 0;  // of the next byte
    int64_t size = 0;      // on disk
    bool written = false;  // since the last Sync
  };
  absl::StatusOr<File*> Open(const std::string& path);

  const std::string folder_;
  std::map<std::string, File> files_;
};

// Makes the folder above `path`, with those above it.
absl::Status MakeFolderOf(const std::string& path);

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_DISK_RUN_FILES_H_
