#ifndef KSEARCH_GPU_WORKER_SESSION_STATE_FOLDER_H_
#define KSEARCH_GPU_WORKER_SESSION_STATE_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"

namespace ksearch {

// The folder for a worker's state, locked for one process at a time, with the worker's permanent id
// in <folder>/worker_id. <folder>/lock contains the process id of the lock's holder.
class StateFolder {
 public:
  // Creates what is missing. FAILED_PRECONDITION: another worker uses the folder. INVALID_ARGUMENT:
  // worker_id does not contain an id.
  static absl::StatusOr<std::unique_ptr<StateFolder>> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& worker_id() const { return worker_id_; }

 private:
  StateFolder(std::string path, std::string worker_id, UniqueFd lock)
      : path_(std::move(path)), worker_id_(std::move(worker_id)), lock_(std::move(lock)) {}

  const std::string path_;
  const std::string worker_id_;
  const UniqueFd lock_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_STATE_FOLDER_H_
