#include "gpu_worker/sandbox/processors_allow_list.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

namespace ksearch {
namespace {

constexpr uint64_t kInt = kLowerHalf;
constexpr uint64_t kWhole = ~uint64_t{0};

// Allowed with any arguments.
constexpr const char* kAlways[] = {
    // Private memory of the process.
    "brk",
    "munmap",
    "mprotect",
    // Threads. clone has conditions; clone3 is left out, as its flags are where no filter sees
    // them.
    "futex",
    "set_robust_list",
    "rseq",
    "exit",
    "exit_group",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_get_priority_max",
    "sched_get_priority_min",
    // Its own signal handling.
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "restart_syscall",
    "pause",
    // Clocks, and sleep.
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "times",
    "nanosleep",
    "clock_nanosleep",
    // Threads that wake each other through descriptors.
    "eventfd2",
    "pipe",
    "poll",
    "ppoll",
    // Open descriptors, and a loader's queries of files.
    "read",
    "readv",
    "pread64",
    "write",
    "writev",
    "lseek",
    "close",
    "fstat",
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getdents64",
    "getcwd",
    // The runner's socket.
    "recvmsg",
    "sendto",
    // Facts.
    "getpid",
    "gettid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "uname",
    "sysinfo",
    "getcpu",
    "getrusage",
    "getrlimit",
    "getrandom",
};

// Advice about its own memory. Not MADV_MERGEABLE: a kernel thread looks for equal pages, even
// while the process is stopped.
constexpr int kAdvice[] = {
    MADV_NORMAL,
    MADV_RANDOM,
    MADV_SEQUENTIAL,
    MADV_WILLNEED,
    MADV_DONTNEED,
    MADV_FREE,
    MADV_HUGEPAGE,
    MADV_NOHUGEPAGE,
    MADV_DONTFORK,
    MADV_DONTDUMP,
    22 /* MADV_POPULATE_READ */,
    23 /* MADV_POPULATE_WRITE */,
};

// Not locks, leases and watches, which affect inodes of the host; not F_SETSIG, F_SETOWN and
// F_SETFL, which cause signals that could wake a stopped process.
constexpr int kDescriptorControls[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC};

// Not those that wait for all processors of the machine, in the kernel, where no signal stops a
// thread; only those that wait for processors that run threads of this process.
constexpr int kBarriers[] = {0 /* MEMBARRIER_CMD_QUERY */, 1 << 3 /* PRIVATE_EXPEDITED */,
                             1 << 4 /* REGISTER_PRIVATE_EXPEDITED */,
                             1 << 5 /* PRIVATE_EXPEDITED_SYNC_CORE */,
                             1 << 6 /* REGISTER_PRIVATE_EXPEDITED_SYNC_CORE */};

// Signals to itself (abort, raise, pthread_kill), as ranges whose sizes are powers of two: all but
// 18 to 22. SIGCONT cancels a pending SIGSTOP, and this process is stopped from
// outside.
struct Signals {
  uint64_t first, last;
};
constexpr Signals kOwnSignals[] = {{0, 15}, {16, 17}, {23, 23}, {24, 31}, {32, 63}, {64, 64}};
static_assert(SIGCONT == 18 && SIGSTOP == 19 && SIGTTOU == 22);

// Names of threads, and of memory (which glibc gives since 2.38).
constexpr int kProcessSettings[] = {PR_SET_NAME, PR_GET_NAME, 0x53564D41 /* PR_SET_VMA */};

// ARCH_GET_XCOMP_SUPP, ARCH_GET_XCOMP_PERM, ARCH_REQ_XCOMP_PERM: matrix tiles (AMX) are used after
// asking for them.
constexpr int kArchitectureSettings[] = {0x1021, 0x1022, 0x1023};

uint64_t Bits(int value) { return static_cast<uint32_t>(value); }

}  // namespace

std::vector<AllowedCall> ProcessorsAllowList(pid_t self) {
  std::vector<AllowedCall> calls;
  for (const char* name : kAlways) calls.push_back({name, {}});
  for (const int advice : kAdvice) calls.push_back({"madvise", {{2, kInt, Bits(advice)}}});
  for (const int control : kDescriptorControls) {
    calls.push_back({"fcntl", {{1, kInt, Bits(control)}}});
  }
  for (const int setting : kProcessSettings) {
    calls.push_back({"prctl", {{0, kInt, Bits(setting)}}});
  }
  for (const int setting : kArchitectureSettings) {
    calls.push_back({"arch_prctl", {{0, kInt, Bits(setting)}}});
  }
  // Its own memory, and files or memory that it was given; not shared memory without a file, which
  // RLIMIT_DATA does not count.
  constexpr uint64_t kSharing = MAP_SHARED | MAP_ANONYMOUS;
  for (const uint64_t kind : {uint64_t{0}, uint64_t{MAP_SHARED}, uint64_t{MAP_ANONYMOUS}}) {
    calls.push_back({"mmap", {{3, kSharing, kind}}});
  }
  // One of 0 bytes would be a second mapping of shared memory, and the kernel rounds the largest
  // sizes up to 0: only sizes whose highest bit is that of an address.
  constexpr int kAddressBits = 47;
  for (int bit = 0; bit < kAddressBits; ++bit) {
    calls.push_back({"mremap", {{1, ~uint64_t{0} << bit, uint64_t{1} << bit}}});
  }
  // Not those that the kernel writes notifications to.
  calls.push_back({"pipe2", {{1, kInt & ~uint64_t{O_CLOEXEC | O_NONBLOCK | O_DIRECT}, 0}}});
  // Only to read existing files. A new name is an inode in kernel memory, which no tmpfs limits.
  calls.push_back({"open", {{1, kInt & ~kPlainOpenFlags, O_RDONLY}}});
  calls.push_back({"openat", {{2, kInt & ~kPlainOpenFlags, O_RDONLY}}});
  // Threads, but no processes or namespaces. SIGSTOP does not stop a parent that waits for a
  // vfork's child, and its other threads run on.
  constexpr uint64_t kThread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
  constexpr uint64_t kOfThreads = CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SETTLS |
                                  CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID |
                                  CLONE_DETACHED;
  calls.push_back({"clone", {{0, kInt & ~kOfThreads, kThread}}});
  // Only to read the stack limit, not to set limits.
  calls.push_back({"prlimit64", {{2, kWhole, 0}}});
  // Whether output goes to a terminal.
  calls.push_back({"ioctl", {{1, kInt, TCGETS}}});
  for (const int barrier : kBarriers) {
    calls.push_back({"membarrier", {{0, kInt, Bits(barrier)}}});
  }
  for (const Signals& signals : kOwnSignals) {
    const uint64_t mask = kInt & ~(signals.last - signals.first);
    calls.push_back({"kill", {{0, kInt, Bits(self)}, {1, mask, signals.first}}});
    calls.push_back({"tgkill", {{0, kInt, Bits(self)}, {2, mask, signals.first}}});
  }
  return calls;
}

}  // namespace ksearch
