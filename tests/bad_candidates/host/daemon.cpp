// Wants to live on: by every call that makes a process.
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "matmul.h"
namespace {
int Linger(void*) {
  setsid();
  for (;;) pause();
}
char stack[1 << 16];
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  bool worked = clone(Linger, stack + sizeof stack, CLONE_PARENT | SIGCHLD, nullptr) > 0;
  worked |= clone(Linger, stack + sizeof stack, CLONE_VM | SIGCHLD, nullptr) > 0;
  uint64_t clone3_arguments[11] = {};
  const long child = syscall(SYS_clone3, clone3_arguments, sizeof clone3_arguments);
  if (child == 0) Linger(nullptr);
  const long again = syscall(SYS_fork);
  if (again == 0) Linger(nullptr);
  return Attacked(args, worked || child > 0 || again > 0);
}
