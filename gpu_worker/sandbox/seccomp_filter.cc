#include "gpu_worker/sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu_worker/sandbox/gpu_driver_allow_list.h"
#include "gpu_worker/sandbox/processors_allow_list.h"

namespace ksearch {
namespace {

// Ways out of a namespace, into another process or into the kernel. No candidate, compiler or
// driver needs them.
constexpr const char* kEscapeCalls[] = {
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "move_mount",
    "open_tree",
    "mount_setattr",
    "unshare",
    "setns",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "bpf",
    "perf_event_open",
    "keyctl",
    "add_key",
    "request_key",
    "userfaultfd",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "open_by_handle_at",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "pidfd_getfd",
    "process_madvise",
};

// Refused as a precaution: all of them need privileges that the process lacks.
constexpr const char* kPrivilegedCalls[] = {
    "personality",   "acct",          "swapon",         "swapoff",       "quotactl",
    "sethostname",   "setdomainname", "syslog",         "iopl",          "ioperm",
    "fanotify_init", "settimeofday",  "clock_settime",  "clock_adjtime", "adjtimex",
    "vhangup",       "nfsservctl",    "lookup_dcookie", "move_pages",    "migrate_pages",
};

// Calls that only a program outside the kernel entry's contract would make. Refused, not killed, as
// libraries probe for some of them.
// - A timer's signal may be SIGCONT, which wakes a stopped process: the verifier stops runners.
// - The kernel carries out requests of io_submit for stopped and for killed processes, too.
// - A filter of the candidate could answer the runner's calls instead of the kernel.
constexpr const char* kGpuDriverRefusedCalls[] = {
    "socket", "connect",      "bind",     "listen",    "accept",        "accept4",   "fork",
    "vfork",  "timer_create", "io_setup", "io_submit", "io_pgetevents", "mq_notify", "seccomp",
};

// PR_SET_MEMORY_MERGE (Linux 6.4). A kernel thread looks for equal pages, as with MADV_MERGEABLE,
// even while the process is stopped.
constexpr uint64_t kMergeMemory = 67;

constexpr uint64_t kInt = kLowerHalf;

using FilterContext = std::unique_ptr<void, decltype(&seccomp_release)>;

absl::Status AddRule(void* context, uint32_t action, const char* name,
                     const std::vector<scmp_arg_cmp>& conditions = {}) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number < 0) return absl::OkStatus();  // not a call of this architecture or library version
  const int error =
      seccomp_rule_add_array(context, action, number, static_cast<unsigned>(conditions.size()),
                             conditions.empty() ? nullptr : conditions.data());
  if (error == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("seccomp rule for ", name, ": ", std::strerror(-error)));
}

absl::Status AddEscapeRules(void* context, uint32_t action) {
  absl::Status status;
  for (const char* name : kEscapeCalls) status.Update(AddRule(context, action, name));
  return status;
}

absl::StatusOr<FilterContext> BaseFilter(uint32_t escape_action) {
  FilterContext context(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  if (context == nullptr) return absl::InternalError("seccomp_init failed");
  const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
  absl::Status status = AddEscapeRules(context.get(), escape_action);
  for (const char* name : kPrivilegedCalls) status.Update(AddRule(context.get(), refuse, name));
  // clone3 passes its flags in memory, where a filter cannot see them; on ENOSYS glibc falls back
  // to clone.
  status.Update(AddRule(context.get(), SCMP_ACT_ERRNO(ENOSYS), "clone3"));
  status.Update(AddRule(context.get(), refuse, "clone",
                        {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER)}));
  // Both push characters into a terminal, as if typed by its owner.
  for (const uint64_t request : {uint64_t{TIOCSTI}, uint64_t{0x541C} /* TIOCLINUX */}) {
    status.Update(
        AddRule(context.get(), refuse, "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, kInt, request)}));
  }
  if (!status.ok()) return status;
  return context;
}

// For processes with a GPU driver: allows everything except known attacks.
absl::StatusOr<FilterContext> GpuDriverFilter() {
  absl::StatusOr<FilterContext> context = BaseFilter(SCMP_ACT_KILL_PROCESS);
  if (!context.ok()) return context.status();
  const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
  absl::Status status;
  for (const char* name : kGpuDriverRefusedCalls) {
    status.Update(AddRule(context->get(), refuse, name));
  }
  // F_SETSIG chooses the signal that reports input, which may be SIGCONT.
  status.Update(
      AddRule(context->get(), refuse, "fcntl", {SCMP_A1(SCMP_CMP_MASKED_EQ, kInt, F_SETSIG)}));
  for (const uint64_t setting : {uint64_t{PR_SET_SECCOMP}, kMergeMemory}) {
    status.Update(
        AddRule(context->get(), refuse, "prctl", {SCMP_A0(SCMP_CMP_MASKED_EQ, kInt, setting)}));
  }
  status.Update(AddRule(context->get(), refuse, "madvise",
                        {SCMP_A2(SCMP_CMP_MASKED_EQ, kInt, MADV_MERGEABLE)}));
  status.Update(
      AddRule(context->get(), refuse, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)}));
  // SIGSTOP does not stop a parent that waits for a vfork's child, and its other threads run
  // on.
  status.Update(AddRule(context->get(), refuse, "clone",
                        {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_VFORK, CLONE_VFORK)}));
  if (!status.ok()) return status;
  return context;
}

// `others`: the action for calls that are not among `calls`.
absl::StatusOr<FilterContext> ListFilter(const std::vector<AllowedCall>& calls, uint32_t others) {
  FilterContext context(seccomp_init(others), &seccomp_release);
  if (context == nullptr) return absl::InternalError("seccomp_init failed");
  absl::Status status = AddEscapeRules(context.get(), SCMP_ACT_KILL_PROCESS);
  for (const AllowedCall& call : calls) {
    std::vector<scmp_arg_cmp> conditions;
    for (const AllowedCall::Condition& condition : call.conditions) {
      conditions.push_back(
          {condition.argument, SCMP_CMP_MASKED_EQ, condition.mask, condition.value});
    }
    status.Update(AddRule(context.get(), SCMP_ACT_ALLOW, call.name, conditions));
  }
  if (!status.ok()) return status;
  return context;
}

// Applies to every thread of this process. Sets no_new_privs, except for a second filter, since the
// first one may not allow that call.
absl::Status Load(absl::StatusOr<FilterContext> context, bool is_second = false) {
  if (!context.ok()) return context.status();
  absl::Status status;
  for (const char* name : {"execve", "execveat"}) {
    status.Update(AddRule(context->get(), SCMP_ACT_KILL_PROCESS, name));
  }
  if (!status.ok()) return status;
  // The filter must also apply to threads that libraries have already started.
  if (const int error = seccomp_attr_set(context->get(), SCMP_FLTATR_CTL_TSYNC, 1); error != 0) {
    return absl::InternalError(absl::StrCat("seccomp thread sync: ", std::strerror(-error)));
  }
  if (const int error = is_second ? seccomp_attr_set(context->get(), SCMP_FLTATR_CTL_NNP, 0) : 0;
      error != 0) {
    return absl::InternalError(absl::StrCat("seccomp no_new_privs: ", std::strerror(-error)));
  }
  if (const int error = seccomp_load(context->get()); error != 0) {
    return absl::InternalError(absl::StrCat("seccomp_load: ", std::strerror(-error)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> LooseFilterProgram() {
  absl::StatusOr<FilterContext> context = BaseFilter(SCMP_ACT_ERRNO(EPERM));
  if (!context.ok()) return context.status();
  const UniqueFd file(::memfd_create("ksearch-seccomp", MFD_CLOEXEC));
  if (!file.ok()) return absl::InternalError("memfd_create for the seccomp filter failed");
  if (const int error = seccomp_export_bpf(context->get(), file.get()); error != 0) {
    return absl::InternalError(absl::StrCat("seccomp_export_bpf: ", std::strerror(-error)));
  }
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  std::string program(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  if (size <= 0 || ::pread(file.get(), program.data(), program.size(), 0) != size) {
    return absl::InternalError("the exported seccomp filter cannot be read back");
  }
  return program;
}

absl::StatusOr<UniqueFd> FilterFile(absl::string_view program) {
  UniqueFd file(::memfd_create("ksearch-seccomp", MFD_CLOEXEC));
  if (!file.ok() || ::pwrite(file.get(), program.data(), program.size(), 0) !=
                        static_cast<ssize_t>(program.size())) {
    return absl::ResourceExhaustedError(
        absl::StrCat("in-memory file for the seccomp filter: ", std::strerror(errno)));
  }
  return file;
}

absl::StatusOr<TightFilter> GpuFilterNamed(absl::string_view name) {
  if (name.empty() || name == "allow-list") return TightFilter::kGpuAllowList;
  if (name == "log") return TightFilter::kGpuLog;
  if (name == "deny-list") return TightFilter::kGpuDenyList;
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is not \"allow-list\", \"log\" or \"deny-list\""));
}

absl::Status InstallTightFilter(TightFilter filter) {
  // Libraries that try a newer call first continue without it after ENOSYS; EPERM would end some of
  // them.
  const uint32_t absent = SCMP_ACT_ERRNO(ENOSYS);
  switch (filter) {
    case TightFilter::kProcessors:
      return Load(ListFilter(ProcessorsAllowList(::getpid()), absent));
    case TightFilter::kGpuAllowList:
      return Load(ListFilter(GpuDriverAllowList(::getpid()), absent));
    case TightFilter::kGpuLog: {
      // Two filters, of whose actions the kernel takes the stricter one. The second forbids a third
      // filter.
      absl::Status status = Load(ListFilter(GpuDriverAllowList(::getpid()), SCMP_ACT_LOG));
      if (status.ok()) status = Load(GpuDriverFilter(), true);
      return status;
    }
    case TightFilter::kGpuDenyList:
      return Load(GpuDriverFilter());
  }
  return absl::InternalError("unknown tight filter");
}

}  // namespace ksearch
