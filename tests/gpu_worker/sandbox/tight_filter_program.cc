// Installs the tight filter and tries one thing under it. Exit status: 0 = it worked, 1 = refused,
// 9 = no filter; killed by SIGSYS = the filter's verdict.
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

#include "gpu_worker/sandbox/seccomp_filter.h"

namespace {

int Try(const std::string& what) {
  const absl::Status status = ksearch::InstallTightFilter();
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
  if (what == "ptrace") return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1;
  return 8;
}

}  // namespace

int main(int argc, char** argv) {
  const int result = Try(argc > 1 ? argv[1] : "");
  std::fflush(stdout);
  // Not exit: a leak check would want a process and ptrace, which the filter refuses.
  _exit(result);
}
