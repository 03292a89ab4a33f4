// Takes its limits off first.
#include <sys/resource.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  bool worked = false;
  for (const int what : {RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_CPU}) {
    const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    worked |= setrlimit(static_cast<__rlimit_resource_t>(what), &none) == 0;
  }
  worked |= setpriority(PRIO_PROCESS, 0, -20) == 0;
  return Attacked(args, worked);
}
