#ifndef KSEARCH_CLI_RECEIVED_FILE_H_
#define KSEARCH_CLI_RECEIVED_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/unique_fd.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// A file that is received in pieces. It has a temporary name in its destination's folder until
// Finish has checked that it is complete and renamed it; the destructor removes an unfinished file.
// Only its owner may read it. Thread-compatible.
class ReceivedFile {
 public:
  // ALREADY_EXISTS: the file exists and `replace` is not set. Other errors name the path.
  static absl::StatusOr<std::unique_ptr<ReceivedFile>> Create(const std::string& path,
                                                              bool replace);
  ~ReceivedFile();
  ReceivedFile(const ReceivedFile&) = delete;
  ReceivedFile& operator=(const ReceivedFile&) = delete;

  absl::Status Append(absl::string_view bytes);
  // DATA_LOSS: the content differs from what was sent. On success the file is durable at its
  // destination.
  absl::Status Finish(const v1::TransferEnd& end);

 private:
  ReceivedFile(std::string path, std::string part, UniqueFd fd, bool replace)
      : path_(std::move(path)), part_(std::move(part)), replace_(replace), fd_(std::move(fd)) {}

  const std::string path_;
  const std::string part_;
  const bool replace_;
  UniqueFd fd_;
  int64_t bytes_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_CLI_RECEIVED_FILE_H_
