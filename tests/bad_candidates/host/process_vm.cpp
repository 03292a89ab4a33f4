#include <sys/uio.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  char byte;
  iovec here = {&byte, 1}, there = {reinterpret_cast<void*>(0x400000), 1};
  return Attacked(args, process_vm_readv(1, &here, 1, &there, 1, 0) == 1);
}
