#ifndef KSEARCH_GPU_WORKER_SANDBOX_SANDBOX_H_
#define KSEARCH_GPU_WORKER_SANDBOX_SANDBOX_H_

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "proto/result.pb.h"

namespace ksearch {

// Limit of processor time for a program that also has a wall-clock limit: its threads may keep this
// many cores busy all the time.
inline constexpr int kCpuTimePerWallTime = 128;

// Includes threads. A program may have a pool with a thread for each processor, and a library in it
// another one, on machines with hundreds of processors.
inline int DefaultMaxProcesses() {
  return std::max(64, 4 * static_cast<int>(std::thread::hardware_concurrency()));
}

// The program to start and the files that it may access. Everything not named is inaccessible.
struct SandboxSpec {
  std::vector<std::string> argv;  // argv[0] must be absolute, as seen inside
  std::map<std::string, std::string> environment;
  struct Bind {
    std::string host_path;
    std::string inside_path;
    bool writable = false;
    bool device = false;  // bind with device access (GPU nodes)
    bool operator==(const Bind&) const = default;
  };
  std::vector<Bind> binds;  // read-only, besides the system's /usr, /lib, /lib64
  std::vector<std::pair<int, int>> inherited_fds;  // parent's fd -> fd inside
  std::string working_directory = "/tmp";
  int niceness = 0;  // as in SubprocessOptions
  // Limits.
  absl::Duration cpu_time = absl::Seconds(60);
  int64_t memory_bytes = int64_t{4} << 30;  // cgroup if there is one
  // Without a cgroup, private memory is limited by RLIMIT_DATA instead. Not for programs that
  // reserve huge ranges (CUDA).
  bool limit_data = false;
  // RLIMIT_AS; 0 = none (CUDA reserves huge ranges).
  int64_t address_space_bytes = 0;
  int64_t file_bytes = int64_t{256} << 20;
  int64_t tmp_bytes = int64_t{256} << 20;  // /tmp and /dev/shm, each
  // kept size of stdout + stderr; more is read and dropped
  int64_t output_bytes = int64_t{256} << 10;
  int max_processes = DefaultMaxProcesses();
  int max_open_files = 256;
  bool operator==(const SandboxSpec&) const = default;
};

struct SandboxExit {
  bool signaled = false;
  int code = 0;  // exit status, or the number of the signal
  // The program never started, because the sandbox could not be set up (`output` says why). A fault
  // of the worker, not of the program.
  bool setup_failed = false;
  bool memory_limit_hit = false;  // as the cgroup reports
  // The kernel killed something for lack of memory while this ran, and not because of its own
  // limit. With a cgroup: something inside. Without: something on this machine.
  bool machine_out_of_memory = false;
  bool output_limit_hit = false;
  std::string output;  // stdout and stderr interleaved, at most output_bytes
  bool output_truncated = false;
};

// One running sandbox; must not outlive its Sandbox. The destructor kills everything inside and
// reaps. Thread-compatible; Kill may be called from any thread.
class SandboxedProcess {
 public:
  virtual ~SandboxedProcess() = default;
  // nullopt: still running at `deadline` (Sandbox::Now() scale).
  virtual std::optional<SandboxExit> Wait(absl::Time deadline) = 0;
  virtual void Kill() = 0;
  // Output of the program beyond this size is read, counted and dropped; SandboxExit.output has the
  // part before.
  virtual void StopKeepingOutput() = 0;
  // The child of this process from which everything inside descends.
  virtual pid_t pid() const = 0;
};

// Starts programs in sandboxes. Thread-safe. Launch fails only if nothing could be started, never
// because of what the program does.
class Sandbox {
 public:
  virtual ~Sandbox() = default;
  virtual absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) = 0;
  virtual v1::IsolationLevel isolation() const = 0;
  // The time that deadlines of its processes refer to.
  virtual absl::Time Now() const { return Clock::Real().SteadyNow(); }
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_SANDBOX_H_
