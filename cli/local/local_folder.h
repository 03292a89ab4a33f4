#ifndef KSEARCH_CLI_LOCAL_LOCAL_FOLDER_H_
#define KSEARCH_CLI_LOCAL_LOCAL_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/local/environment.h"
#include "common/unique_fd.h"

namespace ksearch {

// The account that a worker switches to if root starts it; the group has the same number.
inline constexpr int kLocalWorkerAccount = 64123;

// The folder with all state of the coordinator and worker that `ksearch up` starts. Only its owner
// may open the folder (mode 0700), and so the socket: whoever can open it can use the pair. If root
// owns it, the mode is 0710 for the group of the worker's account.
class LocalFolder {
 public:
  // Returns `given` unless it is empty; otherwise $XDG_STATE_HOME/ksearch or
  // ~/.local/state/ksearch; for root /var/lib/ksearch-local, because no other account can enter
  // root's home. Absolute. INVALID_ARGUMENT if the environment determines no folder, or if the
  // socket's path would be too long for the kernel.
  static absl::StatusOr<std::string> PathFrom(const std::string& given,
                                              const Environment& environment, bool as_root);

  // Creates what is missing and restricts it to the owner. FAILED_PRECONDITION for a folder that is
  // used for something else, belongs to another account, or cannot be reached by the worker's
  // account.
  static absl::StatusOr<LocalFolder> Open(const std::string& path, bool as_root);
  // Returns true if Open has ever succeeded there.
  static bool Exists(const std::string& path);

  const std::string& path() const { return path_; }
  bool as_root() const { return as_root_; }
  std::string socket() const { return path_ + "/socket"; }
  std::string address() const { return "unix:" + socket(); }
  std::string coordinator_config() const { return path_ + "/coordinator.textproto"; }
  std::string coordinator_state() const { return path_ + "/coordinator"; }
  // The file with the URL of the coordinator's page, which admits anyone who knows it.
  std::string page_url() const { return coordinator_state() + "/page_url"; }
  std::string coordinator_log() const { return path_ + "/coordinator.log"; }
  std::string worker_config() const { return path_ + "/worker.textproto"; }
  std::string worker_state() const { return path_ + "/worker"; }
  std::string worker_log() const { return path_ + "/worker.log"; }
  // Folder for the user's own tasks.
  std::string tasks() const { return path_ + "/tasks"; }

  // Waits until no other `ksearch up` or `down` works on the folder, and locks them out until the
  // result is destroyed. Says on stderr that it waits. DEADLINE_EXCEEDED after `wait`.
  absl::StatusOr<UniqueFd> Lock(absl::Duration wait) const;

  // As root: gives the worker's account access to the socket, which the coordinator creates for
  // itself.
  absl::Status ShareSocket() const;

 private:
  LocalFolder(std::string path, bool as_root) : path_(std::move(path)), as_root_(as_root) {}

  std::string path_;
  bool as_root_;
};

// Returns the first existing folder on the way to `path` that `account` (user and group) may not
// enter; empty if there is none.
std::string FolderClosedTo(int account, const std::string& path);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_LOCAL_FOLDER_H_
