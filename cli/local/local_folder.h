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

// The account that a worker becomes when root starts it; user and group have the same number.
inline constexpr int kLocalWorkerAccount = 64123;

// Where the coordinator and the worker that `ksearch up` starts keep everything. The folder is its
// owner's alone (mode 0700), and with it the socket: who may open the folder may use the pair. Of
// root it is 0710, for the group of the worker's account.
class LocalFolder {
 public:
  // `given` if it is not empty; else $XDG_STATE_HOME/ksearch or ~/.local/state/ksearch; of root
  // /var/lib/ksearch-local, as no other account can enter root's home. Absolute. INVALID_ARGUMENT
  // if the environment names no place, or the socket's path would be too long for the kernel.
  static absl::StatusOr<std::string> PathFrom(const std::string& given,
                                              const Environment& environment, bool as_root);

  // Creates what is missing and closes it to others. FAILED_PRECONDITION for a folder that is in
  // use for something else, that belongs to another account, or that the worker's account cannot
  // reach.
  static absl::StatusOr<LocalFolder> Open(const std::string& path, bool as_root);
  // Whether Open was ever there.
  static bool Exists(const std::string& path);

  const std::string& path() const { return path_; }
  bool as_root() const { return as_root_; }
  std::string socket() const { return path_ + "/socket"; }
  std::string address() const { return "unix:" + socket(); }
  std::string coordinator_config() const { return path_ + "/coordinator.textproto"; }
  std::string coordinator_state() const { return path_ + "/coordinator"; }
  // Where the coordinator says its page is: an address that admits anyone who knows it.
  std::string page_url() const { return coordinator_state() + "/page_url"; }
  std::string coordinator_log() const { return path_ + "/coordinator.log"; }
  std::string worker_config() const { return path_ + "/worker.textproto"; }
  std::string worker_state() const { return path_ + "/worker"; }
  std::string worker_log() const { return path_ + "/worker.log"; }
  // For tasks of the user's own.
  std::string tasks() const { return path_ + "/tasks"; }

  // Waits until no other `ksearch up` or `down` is at work on the folder, and keeps them out until
  // the result is destroyed. Says on stderr when it waits. DEADLINE_EXCEEDED after `wait`.
  absl::StatusOr<UniqueFd> Lock(absl::Duration wait) const;

  // As root: lets the worker's account use the socket, which the coordinator makes its own.
  absl::Status ShareSocket() const;

 private:
  LocalFolder(std::string path, bool as_root) : path_(std::move(path)), as_root_(as_root) {}

  std::string path_;
  bool as_root_;
};

// The first folder on the way to `path` that `account` (user and group) may not enter, of those
// that exist; empty if there is none.
std::string FolderClosedTo(int account, const std::string& path);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_LOCAL_FOLDER_H_
