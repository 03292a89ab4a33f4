// A system call filter of its own, which could answer the runner's calls as it likes.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  sock_fprog program = {1, &allow};
  const bool worked = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ||
                      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
  return Attacked(args, worked);
}
