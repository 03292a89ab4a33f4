// Has the kernel copy from the process' own memory, where a thread could go on with it after the
// calls have returned: from /proc/self/mem, through a pipe, a socket or another process' eyes.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "matmul.h"

int ksearch_run(const KsearchArgs* args) {
  float copy[4];
  const int memory = open("/proc/self/mem", O_RDONLY);
  bool worked = memory >= 0 && pread(memory, copy, sizeof copy, reinterpret_cast<off_t>(args->a)) ==
                                   static_cast<ssize_t>(sizeof copy);
  for (const char* path : {"/proc/thread-self/mem", "/proc/self/task/self/mem", "/proc/2/mem"}) {
    worked = worked || open(path, O_RDONLY) >= 0;
  }
  int ends[2];
  struct iovec part = {const_cast<float*>(args->a), sizeof copy};
  worked = worked || pipe(ends) == 0 || pipe2(ends, O_CLOEXEC) == 0 ||
           socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ||
           syscall(SYS_vmsplice, 1, &part, 1, 0) >= 0 || syscall(SYS_splice, 0, 0, 1, 0, 16, 0) >= 0 ||
           syscall(SYS_copy_file_range, 0, 0, 1, 0, 16, 0) >= 0;
  return Attacked(args, worked);
}
