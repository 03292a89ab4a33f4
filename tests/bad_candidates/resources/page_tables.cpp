// Reads one page in 2 MiB of a large mapping that nobody may write: no limit on private memory
// counts it, but every such page costs the kernel one of page tables.
#include <sys/mman.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  constexpr int64_t kStep = int64_t{2} << 20;
  constexpr int64_t kBytes = int64_t{1} << 40;  // 2 GiB of page tables
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return kContained;
  for (int64_t at = 0; at < kBytes; at += kStep) {
    static_cast<void>(static_cast<volatile char*>(memory)[at]);
  }
  return Attacked(args, true);
}
