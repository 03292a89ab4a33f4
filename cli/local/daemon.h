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

// A program that runs on by itself and holds a lock on a file, with its process id in it, as long
// as it lives. The lock alone says whether it runs: it ends with the process, however that ends,
// and with the machine. Thread-compatible.
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

  // The process that holds the lock; nullopt: none does. FAILED_PRECONDITION if somebody holds it
  // whom this process cannot see, as from another container.
  absl::StatusOr<std::optional<pid_t>> Running() const;

  // Starts it in a session of its own, with its output appended to the log. REQUIRES: !Running().
  absl::Status Start(const std::vector<std::string>& arguments, const Environment& environment);
  // Set if it has ended: what it ended with, in words, if this object started it.
  std::optional<std::string> Ended();
  // The last lines of the log, of what Start of this object began if it did, at most `count`.
  std::vector<std::string> LastLines(size_t count) const;

  // Asks it to end (SIGTERM), waits for up to `patience`, then ends it (SIGKILL). False if that had
  // to be. OK and true if it does not run.
  absl::StatusOr<bool> Stop(absl::Duration patience) const;

 private:
  const Files files_;
  std::unique_ptr<Subprocess> started_;
  int64_t log_begin_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_DAEMON_H_
