// One program with many ways to misbehave; the tests run it inside the sandbox and then inspect the
// machine. Prints "DONE <what>" for each attempt that succeeded and "HELD <what>" for each that was
// stopped. Linked against libc only.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern char** environ;

namespace {

void Report(bool done, const char* what) {
  std::printf("%s %s errno=%d\n", done ? "DONE" : "HELD", what, errno);
  std::fflush(stdout);
}

void ForkBomb() {
  int started = 0;
  for (int i = 0; i < 4000; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      while (true) pause();
    }
    if (pid < 0) break;
    ++started;
  }
  std::printf("PROCESSES %d\n", started);
}

void MemoryHog(size_t megabytes) {
  for (size_t i = 0; i < megabytes; ++i) {
    char* block = static_cast<char*>(std::malloc(1 << 20));
    if (block == nullptr) {
      std::printf("MEGABYTES %zu\n", i);
      return;
    }
    std::memset(block, 1, 1 << 20);
    asm volatile("" : : "r"(block) : "memory");  // or the compiler drops block and memset
  }
  std::printf("MEGABYTES %zu\n", megabytes);
}

void EndlessLoop() {
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  std::puts("LOOPING");
  std::fflush(stdout);
  while (true) asm volatile("");
}

void Fill(const char* path) {
  const int fd = open(path, O_CREAT | O_WRONLY, 0600);
  static char block[1 << 20];
  std::memset(block, 7, sizeof block);
  int megabytes = 0;
  while (fd >= 0 && megabytes < 2000 && write(fd, block, sizeof block) > 0) ++megabytes;
  std::printf("MEGABYTES %d errno=%d\n", megabytes, errno);
}

void Network(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Report(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "tcp");
  Report(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0, "raw");
  Report(socket(AF_PACKET, SOCK_RAW, 0) >= 0, "packet");
}

void AbstractSocket(const char* name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path + 1, name, sizeof address.sun_path - 2);
  const socklen_t size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(name));
  Report(connect(fd, reinterpret_cast<sockaddr*>(&address), size) == 0, "abstract");
}

void Read(int count, char** paths) {
  for (int i = 0; i < count; ++i) Report(open(paths[i], O_RDONLY) >= 0, paths[i]);
}

void Write(int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    struct stat status;
    const bool folder = stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode);
    const std::string path = folder ? std::string(paths[i]) + "/planted" : paths[i];
    Report(open(path.c_str(), folder ? O_CREAT | O_WRONLY : O_WRONLY, 0600) >= 0, paths[i]);
    if (folder) Report(symlink("/etc/passwd", (path + "-link").c_str()) == 0, "symlink");
  }
}

void Calls() {
  Report(ptrace(PTRACE_ATTACH, 1, nullptr, nullptr) == 0, "ptrace");
  char byte = 0;
  struct iovec local = {&byte, 1}, remote = {reinterpret_cast<void*>(0x400000), 1};
  Report(syscall(SYS_process_vm_readv, 1, &local, 1UL, &remote, 1UL, 0UL) > 0, "process_vm_readv");
  Report(mount("none", "/tmp", "tmpfs", 0, "") == 0, "mount");
  Report(unshare(CLONE_NEWUSER) == 0, "unshare");
  Report(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr) >= 0,
         "clone_newuser");
  struct clone_args args = {};
  args.flags = CLONE_NEWUSER;
  Report(syscall(SYS_clone3, &args, sizeof args) >= 0, "clone3");
  Report(chroot("/tmp") == 0, "chroot");
  Report(syscall(SYS_bpf, 0, nullptr, 0) >= 0, "bpf");
  Report(syscall(SYS_keyctl, 0, 0, 0, 0, 0) >= 0, "keyctl");
  Report(syscall(SYS_userfaultfd, 0) >= 0, "userfaultfd");
  Report(syscall(SYS_io_uring_setup, 4, nullptr) >= 0, "io_uring");
  Report(syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0UL) >= 0, "perf");
}

void Descriptors() {
  for (int fd = 0; fd < 256; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) std::printf("FD %d\n", fd);
  }
}

// Starts a daemon that keeps touching a file of the host, if it can.
void LeaveDaemon(const char* path) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      signal(SIGTERM, SIG_IGN);
      signal(SIGHUP, SIG_IGN);
      close(0), close(1), close(2);
      while (true) {
        const int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
        [[maybe_unused]] const ssize_t n = write(fd, "x", 1);
        close(fd);
        usleep(1000);
      }
    }
    _exit(0);
  }
  wait(nullptr);
  // Waits until the daemon has written once.
  struct stat status;
  while (stat(path, &status) != 0 || status.st_size == 0) usleep(1000);
  std::puts("DONE daemon");
}

void Flood(long megabytes) {
  static char block[1 << 16];
  std::memset(block, 'x', sizeof block);
  for (long i = 0; i < megabytes * 16; ++i) {
    if (write(1, block, sizeof block) <= 0) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "exit") return std::atoi(argv[2]);
  if (what == "crash") std::abort();
  if (what == "fork_bomb") ForkBomb();
  if (what == "memory") MemoryHog(static_cast<size_t>(std::atol(argv[2])));
  if (what == "loop") EndlessLoop();
  if (what == "fill") Fill(argv[2]);
  if (what == "network") Network(std::atoi(argv[2]));
  if (what == "abstract") AbstractSocket(argv[2]);
  if (what == "read") Read(argc - 2, argv + 2);
  if (what == "write") Write(argc - 2, argv + 2);
  if (what == "calls") Calls();
  if (what == "descriptors") Descriptors();
  if (what == "daemon") LeaveDaemon(argv[2]);
  if (what == "flood") Flood(std::atol(argv[2]));
  if (what == "environment") {
    for (char** entry = environ; *entry != nullptr; ++entry) std::printf("%s\n", *entry);
  }
  if (what == "kill_all") {
    Report(kill(1, SIGKILL) == 0, "kill 1");
    Report(kill(-1, SIGKILL) == 0, "kill -1");
  }
  return 0;
}
