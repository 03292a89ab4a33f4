#include "gpu_worker/sandbox/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/sandbox/cgroup_hierarchy.h"

namespace ksearch {
namespace {

constexpr absl::string_view kWorkerChild = "/worker";
constexpr absl::string_view kGroupPrefix = "ksearch-";
constexpr absl::string_view kJobPrefix = "job-";

// Killed processes leave their group once they have been torn down; large ones take a while.
constexpr absl::Duration kEmptyingTime = absl::Seconds(5);
// At a kill, less than this of the limit is unused: memory is charged in batches of 64 pages.
constexpr int64_t kLimitSlackBytes = int64_t{1} << 20;
// Time to wait for groups that other processes left behind.
constexpr absl::Duration kClearingTime = absl::Seconds(1);

absl::Status WriteTo(const std::string& path, absl::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.ok() ||
      ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return ErrnoStatus(errno, absl::StrCat("write '", text, "' to ", path));
  }
  return absl::OkStatus();
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

absl::Status MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return absl::OkStatus();
  return ErrnoStatus(errno, absl::StrCat("mkdir ", path));
}

std::vector<std::string> ChildrenWithPrefix(const std::string& folder, absl::string_view prefix) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), &::closedir);
  if (dir == nullptr) return names;
  while (const dirent* entry = ::readdir(dir.get())) {
    if (absl::StartsWith(entry->d_name, prefix)) names.push_back(entry->d_name);
  }
  return names;
}

// Returns true if the process whose id is in "<prefix><pid>[-...]" has ended.
bool OwnerGone(absl::string_view name, absl::string_view prefix) {
  absl::ConsumePrefix(&name, prefix);
  int64_t pid = 0;
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '-');
  return absl::SimpleAtoi(parts[0], &pid) && !Exists(absl::StrCat("/proc/", pid));
}

void KillMembers(const std::string& folder) {
  const std::string pids = ReadFile(folder + "/cgroup.procs", 1 << 20).value_or("");
  for (const absl::string_view line : absl::StrSplit(pids, '\n', absl::SkipEmpty())) {
    int pid = 0;  // stays 0 for a process of another PID namespace
    if (absl::SimpleAtoi(line, &pid) && pid > 0) ::kill(pid, SIGKILL);
  }
}

// Removes jobs of processes that have ended. A sandbox under construction may have outlived them.
void RemoveAbandonedJobs(const std::string& group) {
  const absl::Time deadline = absl::Now() + kClearingTime;
  for (const std::string& name : ChildrenWithPrefix(group, kJobPrefix)) {
    if (!OwnerGone(name, kJobPrefix)) continue;
    const std::string job = absl::StrCat(group, "/", name);
    KillMembers(job);
    while (::rmdir(job.c_str()) != 0 && errno == EBUSY && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(1));
      KillMembers(job);
    }
  }
}

// Removes groups of workers that ended without removing them.
void RemoveAbandonedGroups(const std::string& base) {
  for (const std::string& name : ChildrenWithPrefix(base, kGroupPrefix)) {
    if (!OwnerGone(name, kGroupPrefix)) continue;
    const std::string group = absl::StrCat(base, "/", name);
    RemoveAbandonedJobs(group);
    for (const std::string& child : ChildrenWithPrefix(group, "")) {
      if (child != "." && child != "..") ::rmdir(absl::StrCat(group, "/", child).c_str());
    }
    ::rmdir(group.c_str());
  }
}

bool ControllersEnabled(const std::string& folder) {
  const std::string text = ReadFile(folder + "/cgroup.subtree_control", 4096).value_or("");
  const std::string padded = absl::StrCat(" ", absl::StripSuffix(text, "\n"), " ");
  return absl::StrContains(padded, " memory ") && absl::StrContains(padded, " pids ");
}

absl::Status EnableControllers(const std::string& folder) {
  if (ControllersEnabled(folder)) return absl::OkStatus();
  return WriteTo(folder + "/cgroup.subtree_control", "+memory +pids");
}

// Moves this process into folder/worker: v2 lets only a group without processes hand controllers to
// its children.
absl::Status StepDown(const std::string& folder) {
  const std::string child = absl::StrCat(folder, kWorkerChild);
  RETURN_IF_ERROR(MakeFolder(child));
  return WriteTo(child + "/cgroup.procs", "0");
}

absl::Status GiveTo(const std::string& folder, uid_t uid, gid_t gid) {
  for (const char* file :
       {"", "/cgroup.procs", "/cgroup.subtree_control", "/cgroup.threads", "/tasks"}) {
    const std::string path = folder + file;
    if (Exists(path) && ::chown(path.c_str(), uid, gid) != 0) {
      return ErrnoStatus(errno, absl::StrCat("chown ", path));
    }
  }
  return absl::OkStatus();
}

// Prepares `base` to hold groups with limits (v2), or returns why it cannot.
absl::Status PrepareBase(const CgroupHierarchies& hierarchies, const std::string& base) {
  if (hierarchies.version != "v2" || ControllersEnabled(base)) return absl::OkStatus();
  if (EnableControllers(base).ok()) return absl::OkStatus();
  RETURN_IF_ERROR(StepDown(base));
  const absl::Status enabled = EnableControllers(base);
  if (!enabled.ok()) {
    WriteTo(base + "/cgroup.procs", "0").IgnoreError();
    ::rmdir(absl::StrCat(base, kWorkerChild).c_str());
  }
  return enabled;
}

absl::Status PrepareGroup(const CgroupHierarchies& hierarchies, const std::string& base, uid_t uid,
                          gid_t gid) {
  RETURN_IF_ERROR(PrepareBase(hierarchies, base));
  RemoveAbandonedGroups(base);
  const std::string group = absl::StrCat(base, "/", kGroupPrefix, ::getpid());
  RETURN_IF_ERROR(MakeFolder(group));
  RETURN_IF_ERROR(GiveTo(group, uid, gid));
  if (hierarchies.version == "v2") RETURN_IF_ERROR(EnableControllers(group));
  RETURN_IF_ERROR(StepDown(group));
  return GiveTo(absl::StrCat(group, kWorkerChild), uid, gid);
}

// Limits of a controller that this folder lacks belong to another folder: see `folders_`.
absl::Status Limit(const std::string& folder, const CgroupLimits& limits) {
  if (limits.max_processes > 0 && Exists(folder + "/pids.max")) {
    RETURN_IF_ERROR(WriteTo(folder + "/pids.max", absl::StrCat(limits.max_processes)));
  }
  if (limits.memory_bytes <= 0) return absl::OkStatus();
  const std::string bytes = absl::StrCat(limits.memory_bytes);
  if (Exists(folder + "/memory.max")) {
    RETURN_IF_ERROR(WriteTo(folder + "/memory.max", bytes));
    if (Exists(folder + "/memory.swap.max")) {
      RETURN_IF_ERROR(WriteTo(folder + "/memory.swap.max", "0"));
    }
  } else if (Exists(folder + "/memory.limit_in_bytes")) {
    RETURN_IF_ERROR(WriteTo(folder + "/memory.limit_in_bytes", bytes));
    if (Exists(folder + "/memory.memsw.limit_in_bytes")) {
      RETURN_IF_ERROR(WriteTo(folder + "/memory.memsw.limit_in_bytes", bytes));
    }
  }
  return absl::OkStatus();
}

// The number after `name` and a space in one of the file's lines, or the file's only number if
// `name` is empty; 0 if there is none.
int64_t NumberIn(const std::string& path, absl::string_view name) {
  const std::string prefix = name.empty() ? "" : absl::StrCat(name, " ");
  const std::string text = ReadFile(path, 4096).value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    int64_t number = 0;
    if (absl::ConsumePrefix(&line, prefix) && absl::SimpleAtoi(line, &number)) return number;
  }
  return 0;
}

// Number of processes of a group that the kernel killed for lack of memory, its own or the
// machine's.
int64_t OutOfMemoryKills(const std::string& folder) {
  return NumberIn(folder + "/memory.events", "oom_kill") +
         NumberIn(folder + "/memory.oom_control", "oom_kill");
}

// Returns true if a group reached its memory limit. v2 counts that; not every v1 kernel counts
// reaching the limit of memory and swap together, but all keep the largest use.
bool LimitMet(const std::string& folder) {
  if (NumberIn(folder + "/memory.events", "oom") > 0) return true;
  for (const char* kind : {"/memory.", "/memory.memsw."}) {
    const int64_t most = NumberIn(absl::StrCat(folder, kind, "max_usage_in_bytes"), "");
    const int64_t limit = NumberIn(absl::StrCat(folder, kind, "limit_in_bytes"), "");
    if (most > 0 && most >= limit - kLimitSlackBytes) return true;
  }
  return false;
}

}  // namespace

absl::Status CgroupParent::Prepare(uid_t uid, gid_t gid) {
  const CgroupHierarchies hierarchies = ReadCgroupHierarchies();
  if (hierarchies.version == "none") {
    return absl::UnavailableError("no cgroup hierarchy with memory and pids controllers");
  }
  for (const CgroupHierarchies::Place& place : hierarchies.places) {
    absl::Status prepared = PrepareGroup(hierarchies, place.own, uid, gid);
    if (!prepared.ok() && place.own != place.mount) {
      prepared = PrepareGroup(hierarchies, place.mount, uid, gid);
    }
    if (!prepared.ok()) return absl::UnavailableError(prepared.message());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CgroupParent>> CgroupParent::Find() {
  const CgroupHierarchies hierarchies = ReadCgroupHierarchies();
  if (hierarchies.version == "none") {
    return absl::UnavailableError("no cgroup hierarchy with memory and pids controllers");
  }
  std::vector<std::string> folders;
  for (const CgroupHierarchies::Place& place : hierarchies.places) {
    absl::string_view own = place.own;
    std::string group(own);
    if (absl::ConsumeSuffix(&own, kWorkerChild)) {
      group = std::string(own);
    } else if (hierarchies.version == "v2" && ::access(group.c_str(), W_OK) == 0) {
      RETURN_IF_ERROR(StepDown(group));
      RETURN_IF_ERROR(EnableControllers(group));
    }
    if (::access(group.c_str(), W_OK) != 0) {
      return absl::UnavailableError(
          absl::StrCat("cgroup ", group, " is not writable for uid ", ::geteuid()));
    }
    folders.push_back(std::move(group));
  }
  std::unique_ptr<CgroupParent> parent(new CgroupParent(hierarchies.version, std::move(folders)));
  for (const std::string& folder : parent->folders_) RemoveAbandonedJobs(folder);
  // Writable folders do not yet mean usable limits: try.
  const auto trial = parent->MakeChild({.memory_bytes = 64 << 20, .max_processes = 8});
  if (!trial.ok()) return absl::UnavailableError(trial.status().message());
  return parent;
}

absl::StatusOr<std::unique_ptr<Cgroup>> CgroupParent::MakeChild(const CgroupLimits& limits) {
  const std::string name = absl::StrCat("/", kJobPrefix, ::getpid(), "-", next_child_++);
  std::unique_ptr<Cgroup> child(new Cgroup());
  for (const std::string& parent : folders_) {
    const std::string folder = parent + name;
    RETURN_IF_ERROR(MakeFolder(folder));
    child->folders_.push_back(folder);
    RETURN_IF_ERROR(Limit(folder, limits));
    UniqueFd procs(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!procs.ok()) return ErrnoStatus(errno, absl::StrCat("open ", folder, "/cgroup.procs"));
    child->procs_.push_back(std::move(procs));
  }
  return child;
}

std::vector<int> Cgroup::join_fds() const {
  std::vector<int> fds;
  for (const UniqueFd& fd : procs_) fds.push_back(fd.get());
  return fds;
}

void Cgroup::Kill() {
  for (const std::string& folder : folders_) {
    if (!WriteTo(folder + "/cgroup.kill", "1").ok()) KillMembers(folder);
  }
}

bool Cgroup::memory_limit_hit() const {
  return std::any_of(folders_.begin(), folders_.end(), [](const std::string& folder) {
    return OutOfMemoryKills(folder) > 0 && LimitMet(folder);
  });
}

bool Cgroup::machine_out_of_memory() const {
  return std::any_of(folders_.begin(), folders_.end(), [](const std::string& folder) {
    return OutOfMemoryKills(folder) > 0 && !LimitMet(folder);
  });
}

bool Cgroup::Empty() const {
  for (const std::string& folder : folders_) {
    if (!ReadFile(folder + "/cgroup.procs", 1 << 20).value_or("").empty()) return false;
  }
  return true;
}

Cgroup::~Cgroup() {
  const absl::Time deadline = absl::Now() + kEmptyingTime;
  while (!Empty() && absl::Now() < deadline) {
    Kill();
    absl::SleepFor(absl::Milliseconds(1));
  }
  procs_.clear();
  for (const std::string& folder : folders_) {
    // EBUSY for a moment after the last process left.
    while (::rmdir(folder.c_str()) != 0 && errno == EBUSY && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    if (Exists(folder)) {
      LOG(WARNING) << "msg=\"cgroup cannot be removed\" folder=" << folder;
    }
  }
}

}  // namespace ksearch
