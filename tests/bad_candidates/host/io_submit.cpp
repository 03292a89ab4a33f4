// Reads that the kernel carries out by itself go on while the process is stopped, and keep a killed
// one from ending.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  static char target[1 << 20];
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, 4096, &context) != 0) return kContained;
  iocb request = {};
  request.aio_lio_opcode = IOCB_CMD_PREAD;
  request.aio_fildes = static_cast<uint32_t>(open("/usr/bin/env", O_RDONLY));
  request.aio_buf = reinterpret_cast<uint64_t>(target);
  request.aio_nbytes = sizeof target;
  iocb* requests[] = {&request};
  bool worked = false;
  for (int i = 0; i < 4000; ++i) worked |= syscall(SYS_io_submit, context, 1, requests) == 1;
  return Attacked(args, worked);
}
