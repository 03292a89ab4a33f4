// While buffers are mapped their descriptors are open. A verifier that reads a file which has
// shrunk dies of SIGBUS; a file sealed against writing is of no use to the next candidate.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "matmul.h"
namespace {
bool worked = false;
}
int64_t ksearch_workspace_bytes(const KsearchArgs*) {
  for (int fd = 4; fd < 256; ++fd) {
    worked |= ftruncate(fd, 0) == 0;
    worked |= fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0;
    worked |= fcntl(fd, F_ADD_SEALS, 0x0010 /* F_SEAL_FUTURE_WRITE */) == 0;
  }
  return 64;
}
int ksearch_run(const KsearchArgs* args) { return Attacked(args, worked); }
