// Installs the tight filter and tries one thing under it. Exit status: 0 = it worked, 1 = refused,
// 9 = no filter; killed by SIGSYS = the filter's verdict.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu_worker/sandbox/seccomp_filter.h"

namespace {

// The system calls that a GPU's driver makes while it works.
bool DriverCallsWork() {
  const int node = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int event = eventfd(0, EFD_CLOEXEC);
  int ends[2];
  if (node < 0 || event < 0 || pipe2(ends, O_CLOEXEC) != 0 || write(ends[1], "x", 1) != 1 ||
      fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    return false;
  }
  // The driver's own requests: the device may refuse them, but the filter must not.
  bool reached = true;
  for (const unsigned long request :
       {_IOWR('F', 0x2A, char[32]), _IOWR('F', 0xC9, char[4]), 33ul, 0x30000001ul}) {
    reached = reached && ioctl(node, request, nullptr) != 0 && errno == ENOTTY;
  }
  if (mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return false;
  void* range =
      mmap(nullptr, size_t{1} << 36, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  struct pollfd ready = {event, POLLIN, 0};
  cpu_set_t cpus;
  return reached && range != MAP_FAILED && mprotect(range, 4096, PROT_READ | PROT_WRITE) == 0 &&
         munmap(range, 1 << 20) == 0 && poll(&ready, 1, 0) == 0 &&
         sched_getaffinity(0, sizeof cpus, &cpus) == 0 &&
         sched_setaffinity(0, sizeof cpus, &cpus) == 0;
}

// The system calls that honest CPU programs make.
bool HonestMeansWork() {
  pthread_setname_np(pthread_self(), "means");
  pthread_attr_t attributes;
  cpu_set_t cpus;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
      sched_getaffinity(0, sizeof cpus, &cpus) != 0 ||
      sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
    return false;
  }
  pthread_attr_destroy(&attributes);
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&done] {
      std::vector<char> own(size_t{1} << 22, 'x');
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      ++done;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  never.wait_for(lock, std::chrono::milliseconds(1));
  const size_t bytes = size_t{1} << 23;
  void* grown = std::realloc(std::malloc(bytes), 4 * bytes);
  void* huge = nullptr;
  if (grown == nullptr || posix_memalign(&huge, size_t{1} << 21, bytes) != 0 ||
      (madvise(huge, bytes, MADV_HUGEPAGE) != 0 && errno == ENOSYS)) {
    return false;
  }
  // Older kernels do not know it.
  if (madvise(huge, bytes, 23 /* MADV_POPULATE_WRITE */) != 0 && errno == ENOSYS) return false;
  std::free(grown);
  std::free(huge);
  int ends[2], more[2];
  const int event = eventfd(1, EFD_CLOEXEC);
  struct pollfd ready = {event, POLLIN, 0};
  if (event < 0 || poll(&ready, 1, 0) != 1 || pipe(ends) != 0 || pipe2(more, O_CLOEXEC) != 0 ||
      write(ends[1], "x", 1) != 1) {
    return false;
  }
  try {
    throw std::runtime_error("thrown");
  } catch (const std::exception&) {
  }
  timespec now;
  return done == 4 && std::thread::hardware_concurrency() > 0 && sysconf(_SC_PHYS_PAGES) > 0 &&
         clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0 &&
         std::async([] { return 7; }).get() == 7 &&
         std::random_device()() != std::random_device()() &&
         open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC) >= 0 && isatty(1) >= 0;
}

// A thread that suspends its creator until it ends.
bool WaitingCloneWorks() {
  static char stack[1 << 14];
  constexpr int kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                         CLONE_SYSVSEM | CLONE_VFORK;
  return clone(
             [](void*) {
               syscall(SYS_exit, 0L);
               return 0;
             },
             stack + sizeof stack, kFlags, nullptr) >= 0;
}

// Removes from *what the prefix that selects the filter. "gpu-X": X under the usual filter of a
// GPU's runner; "listed-X", "logged-X": under the runner's other filters.
ksearch::TightFilter TakeFilter(std::string* what) {
  for (const auto& [beginning, filter] : {std::pair{"gpu-", ksearch::TightFilter::kGpuDenyList},
                                          {"listed-", ksearch::TightFilter::kGpuAllowList},
                                          {"logged-", ksearch::TightFilter::kGpuLog}}) {
    if (what->rfind(beginning, 0) != 0) continue;
    *what = what->substr(std::string(beginning).size());
    return filter;
  }
  return ksearch::TightFilter::kProcessors;
}

int Try(std::string what) {
  const absl::Status status = ksearch::InstallTightFilter(TakeFilter(&what));
  if (!status.ok()) {
    std::printf("%s\n", status.ToString().c_str());
    return 9;
  }
  if (what == "nothing") return 0;
  if (what == "thread") {
    int value = 0;
    std::thread([&value] { value = 1; }).join();
    return value == 1 ? 0 : 1;
  }
  if (what == "driver") return DriverCallsWork() ? 0 : 1;
  if (what == "inet") return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 0 : 1;
  if (what == "socket") return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : 1;
  if (what == "fork") {
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    return pid > 0 ? 0 : 1;
  }
  if (what == "exec") {
    execl("/usr/bin/true", "true", nullptr);
    return 1;
  }
  if (what == "timer") {
    timer_t timer;
    return timer_create(CLOCK_MONOTONIC, nullptr, &timer) == 0 ? 0 : 1;
  }
  if (what == "input-signal") return fcntl(0, F_SETSIG, SIGCONT) == 0 ? 0 : 1;
  // The kernel uses only 32 bits of the command.
  if (what == "wide-input-signal") {
    return syscall(SYS_fcntl, 0L, (1L << 32) | F_SETSIG, long{SIGCONT}) == 0 ? 0 : 1;
  }
  if (what == "waiting-clone") return WaitingCloneWorks() ? 0 : 1;
  if (what == "kernel-requests") {
    unsigned long context = 0;
    return syscall(SYS_io_setup, 8L, &context) == 0 ? 0 : 1;
  }
  if (what == "merged-memory") {
    static char page[1 << 13] __attribute__((aligned(1 << 12)));
    errno = 0;
    // A kernel without this feature returns EINVAL.
    return madvise(page, 1 << 12, MADV_MERGEABLE) == 0 || errno == EINVAL ||
                   prctl(67 /* PR_SET_MEMORY_MERGE */, 1L, 0L, 0L, 0L) == 0
               ? 0
               : 1;
  }
  if (what == "own-filter") {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &allow};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ||
                   syscall(SYS_seccomp, long{SECCOMP_SET_MODE_FILTER}, 0L, &program) == 0
               ? 0
               : 1;
  }
  if (what == "file-lock") {
    struct flock lock = {};
    lock.l_type = F_RDLCK;
    const int file = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);
    return flock(file, LOCK_SH) == 0 || fcntl(file, F_SETLK, &lock) == 0 ? 0 : 1;
  }
  if (what == "file-watch") return inotify_init1(IN_CLOEXEC) >= 0 ? 0 : 1;
  if (what == "new-file") {
    return open("/tmp/ksearch-new", O_CREAT | O_WRONLY, 0600) >= 0 ||
                   open("/tmp", O_TMPFILE | O_WRONLY, 0600) >= 0 ||
                   mkdir("/tmp/ksearch-new-folder", 0700) == 0 ||
                   symlink("x", "/tmp/ksearch-new-link") == 0
               ? 0
               : 1;
  }
  if (what == "old-file") {
    const int folder = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder >= 0 && open("/usr/bin/env", O_RDONLY | O_CLOEXEC) >= 0 ? 0 : 1;
  }
  if (what == "honest-means") return HonestMeansWork() ? 0 : 1;
  if (what == "own-signal") return kill(getpid(), 0) == 0 && raise(SIGURG) == 0 ? 0 : 1;
  if (what == "signal-that-continues") return kill(getpid(), SIGCONT) == 0 ? 0 : 1;
  if (what == "signal-that-stops-a-thread") return raise(SIGTSTP) == 0 ? 0 : 1;
  if (what == "barrier-of-the-machine") {
    return syscall(SYS_membarrier, 1 /* MEMBARRIER_CMD_GLOBAL */, 0) == 0 ? 0 : 1;
  }
  if (what == "barrier-of-its-own") {
    return syscall(SYS_membarrier, 1 << 4 /* REGISTER_PRIVATE_EXPEDITED */, 0) == 0 &&
                   syscall(SYS_membarrier, 1 << 3 /* PRIVATE_EXPEDITED */, 0) == 0
               ? 0
               : 1;
  }
  if (what == "signal-to-another") return kill(getppid(), 0) == 0 ? 0 : 1;
  if (what == "written-file") return open("/dev/null", O_WRONLY | O_CLOEXEC) >= 0 ? 0 : 1;
  if (what == "new-limit") {
    struct rlimit limit = {};
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : 1;
  }
  if (what == "pipe-of-notifications") {
    int ends[2];
    return syscall(SYS_pipe2, ends, long{O_EXCL} /* O_NOTIFICATION_PIPE */) == -1 && errno == ENOSYS
               ? 1
               : 0;
  }
  if (what == "input-asked-for") return fcntl(0, F_SETFL, O_ASYNC) == 0 ? 0 : 1;
  if (what == "other-request") return ioctl(0, FIOASYNC, nullptr) != 0 && errno == ENOSYS ? 1 : 0;
  // Calls that are on no list of attacks.
  if (what == "other-call") {
    int ends[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ||
                   syscall(SYS_sched_setscheduler, 0L, long{SCHED_BATCH}, &ends) == 0 ||
                   syscall(SYS_pidfd_open, long{getpid()}, 0L) >= 0 || alarm(0) == 0
               ? 0
               : 1;
  }
  if (what == "absent-call") return syscall(100'000L) == -1 && errno == ENOSYS ? 1 : 0;
  if (what == "second-mapping") {
    const int file = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);
    void* first = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    return first != MAP_FAILED && mremap(first, 0, 4096, MREMAP_MAYMOVE) != MAP_FAILED ? 0 : 1;
  }
  if (what == "memory-file") {
    const int file = memfd_create("x", MFD_CLOEXEC);
    return file >= 0 && ftruncate(file, 1 << 20) == 0 ? 0 : 1;
  }
  if (what == "shared-memory" || what == "private-memory") {
    const int kind = what == "shared-memory" ? MAP_SHARED : MAP_PRIVATE;
    return mmap(nullptr, 4096, PROT_READ, kind | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ? 0 : 1;
  }
  if (what == "ptrace") return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1;
  return 8;
}

}  // namespace

int main(int argc, char** argv) {
  const int result = Try(argc > 1 ? argv[1] : "");
  std::fflush(stdout);
  // Not exit: a leak check would need a new process and ptrace, which the filter refuses.
  _exit(result);
}
