// Memory that belongs to no mapping: in-memory files and System V segments.
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  static char piece[1 << 20];
  memset(piece, 1, sizeof piece);
  int64_t written = 0;
  for (int i = 0; i < 64; ++i) {
    const int fd = memfd_create("hoard", 0);
    for (int j = 0; fd >= 0 && j < 64; ++j) {
      if (write(fd, piece, sizeof piece) <= 0) break;
      written += sizeof piece;
    }
    const int id = shmget(IPC_PRIVATE, size_t{64} << 20, IPC_CREAT | 0600);
    void* segment = id < 0 ? reinterpret_cast<void*>(-1) : shmat(id, nullptr, 0);
    if (segment != reinterpret_cast<void*>(-1)) {
      memset(segment, 1, size_t{64} << 20);
      written += int64_t{64} << 20;
      shmdt(segment);
    }
  }
  return Attacked(args, written > int64_t{2} << 30);
}
