#ifndef KSEARCH_GPU_WORKER_SANDBOX_CGROUP_H_
#define KSEARCH_GPU_WORKER_SANDBOX_CGROUP_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/unique_fd.h"

namespace ksearch {

struct CgroupLimits {
  int64_t memory_bytes = 0;  // including swap; 0: no limit
  int max_processes = 0;     // including threads; 0: no limit
};

// One job's control group. The destructor kills the processes inside and removes the group. Kill
// and the two memory queries may be called from any thread.
class Cgroup {
 public:
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // For SubprocessOptions::joined_cgroups; open as long as this object lives.
  std::vector<int> join_fds() const;
  void Kill();
  // Returns true if the kernel killed a process inside because this group's limit was reached.
  bool memory_limit_hit() const;
  // Returns true if the kernel killed a process inside although this group was within its limit:
  // the machine, or an enclosing group, has no memory left.
  bool machine_out_of_memory() const;

 private:
  friend class CgroupParent;
  Cgroup() = default;
  bool Empty() const;

  std::vector<std::string> folders_;  // one per hierarchy: v2 has one, v1 one per controller
  std::vector<UniqueFd> procs_;
};

// The group whose children this process may make. How it comes about:
//   - root calls Prepare once; it makes ksearch-<pid>, gives it to the account the worker is about
//     to take, and moves this process into its child "worker";
//   - or systemd (Delegate=yes) or a container gave this process a group of its own.
// Find, called later by the worker or by any child of it, sees what there is. Thread-safe.
class CgroupParent {
 public:
  // UNAVAILABLE if this machine has no memory and pids controllers that root may use here; nothing
  // is changed then.
  static absl::Status Prepare(uid_t uid, gid_t gid);

  // UNAVAILABLE, with the reason, if no child can be created.
  static absl::StatusOr<std::unique_ptr<CgroupParent>> Find();

  absl::StatusOr<std::unique_ptr<Cgroup>> MakeChild(const CgroupLimits& limits);

  // "v2" or "v1".
  const std::string& version() const { return version_; }

 private:
  CgroupParent(std::string version, std::vector<std::string> folders)
      : version_(std::move(version)), folders_(std::move(folders)) {}

  const std::string version_;
  const std::vector<std::string> folders_;
  std::atomic<int64_t> next_child_{0};
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_CGROUP_H_
