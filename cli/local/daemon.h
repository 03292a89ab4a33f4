#ifndef KSEARCH_CLI_LOCAL_DAEMON_H_
#define KSEARCH_CLI_LOCAL_DAEMON_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/local/environment.h"
#include "common/subprocess.h"

namespace ksearch {

// A program that runs in the background and, as long as it lives, holds a lock on a file that
// contains its process id. Only the lock says whether it runs: it is released when the process
// ends, however that happens. Thread-compatible.
class Daemon {
 public:
  struct Files {
    std::string program;  // its path
    std::string lock;
    std::string log;
    std::string working_directory;
  };
  explicit Daemon(Files files) : files_(std::move(files)) {}

  // "ksearch-worker".
  std::string name() const;
  const std::string& log() const { return files_.log; }

  // Returns the process that holds the lock, or nullopt if none does. FAILED_PRECONDITION if the
  // holder is invisible to this process, for example in another container.
  absl::StatusOr<std::optional<pid_t>> Running() const;

  // Starts the program in its own session, with its output appended to the log. REQUIRES:
  // !Running().
  absl::Status Start(const std::vector<std::string>& arguments, const Environment& environment);
  // Returns how the program ended, as text, if this object started it and it has ended.
  std::optional<std::string> Ended();
  // Returns at most `count` of the log's last lines, only from the output since Start if this
  // object started the program.
  std::vector<std::string> LastLines(size_t count) const;

  // Asks the program to end (SIGTERM), waits up to `patience`, then kills it (SIGKILL). Returns
  // false if it had to be killed, and true if it ended or was not running.
  absl::StatusOr<bool> Stop(absl::Duration patience) const;

 private:
  const Files files_;
  std::unique_ptr<Subprocess> started_;
  int64_t log_begin_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_DAEMON_H_
