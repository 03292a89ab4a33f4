#include <sys/ptrace.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  return Attacked(args, ptrace(PTRACE_ATTACH, 1, nullptr, nullptr) == 0);
}
