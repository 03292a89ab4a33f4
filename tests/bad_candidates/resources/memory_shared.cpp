// Shared anonymous memory is no data segment.
#include <string.h>
#include <sys/mman.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  constexpr size_t kPiece = size_t{64} << 20;
  for (int i = 0; i < 64; ++i) {  // 4 GiB
    void* piece = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) return kContained;
    memset(piece, 1, kPiece);
  }
  return Attacked(args, true);
}
