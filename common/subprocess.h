#ifndef KSEARCH_COMMON_SUBPROCESS_H_
#define KSEARCH_COMMON_SUBPROCESS_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/unique_fd.h"

namespace ksearch {

struct SubprocessOptions {
  std::vector<std::string> argv;  // argv[0] is the path; searched on PATH if it has no '/'
  // The whole environment of the child; nothing is inherited.
  std::map<std::string, std::string> environment;
  std::string working_directory;  // empty: as the parent
  // Parent's fd -> the number it has in the child. 0, 1, 2 not listed: /dev/null. Every other fd of
  // the parent is closed in the child.
  std::vector<std::pair<int, int>> inherited_fds;
  // (RLIMIT_*, soft = hard value), set before exec.
  std::vector<std::pair<int, rlim_t>> limits;
  // 0: as the parent; else 1 (slightly lower priority) .. 19 (lowest). With `new_session` also that
  // of the session, which is what counts on most systems.
  int niceness = 0;
  // Files opened for writing (cgroup.procs): the child writes "0" to each before exec, which moves
  // it there before its first instruction. Failure is a failed start.
  std::vector<int> joined_cgroups;
  bool die_with_parent = true;  // PR_SET_PDEATHSIG SIGKILL; follows the spawning *thread*
  // A session of its own, so that no terminal's signals reach it. For daemons, and see `niceness`.
  bool new_session = false;
};

// One child process in a process group of its own. The destructor kills the group and reaps the
// child. Thread-compatible; Kill may be called from any thread.
class Subprocess {
 public:
  struct Exit {
    bool signaled = false;
    int code = 0;  // exit status, or the signal's number if signaled
    struct rusage usage = {};
  };

  // Non-OK if it could not be started (no such program, no memory); the message names argv[0].
  static absl::StatusOr<std::unique_ptr<Subprocess>> Start(const SubprocessOptions& options);

  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  // Waits until the child ends or `deadline` (Clock::Real().SteadyNow() scale) passes; nullopt
  // then.
  std::optional<Exit> Wait(absl::Time deadline);
  // SIGKILL to the whole group. Does not wait.
  void Kill();
  // From now on the destructor neither kills nor waits: the child outlives this process.
  void LeaveRunning() { left_running_ = true; }
  pid_t pid() const { return pid_; }
  // Readable when the child has ended.
  int pidfd() const { return pidfd_.get(); }

 private:
  Subprocess(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  const pid_t pid_;
  const UniqueFd pidfd_;
  std::optional<Exit> exit_;
  bool left_running_ = false;
};

// Runs to the end and collects output. For trusted short commands.
struct CommandOutput {
  Subprocess::Exit exit;
  std::string out;  // stdout, at most `max_output_bytes`; the rest is read and dropped
  std::string err;
  bool out_truncated = false;
  bool timed_out = false;
};
absl::StatusOr<CommandOutput> RunCommand(SubprocessOptions options, absl::Duration timeout,
                                         int64_t max_output_bytes = int64_t{1} << 20);

// Folder of the running binary, e.g. "/opt/ksearch/bin".
std::string BinaryFolder();

// Absolute path of `program` as found on PATH; NOT_FOUND names it.
absl::StatusOr<std::string> FindOnPath(const std::string& program);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_SUBPROCESS_H_
