// Shared pages of /dev/zero: memory that no data segment counts.
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  constexpr size_t kPiece = size_t{64} << 20;
  const int zero = open("/dev/zero", O_RDWR);
  for (int i = 0; i < 80; ++i) {  // 5 GiB
    void* piece = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
    if (piece == MAP_FAILED) return kContained;
    memset(piece, 1, kPiece);
  }
  return Attacked(args, true);
}
