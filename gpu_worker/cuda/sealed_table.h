#ifndef KSEARCH_GPU_WORKER_CUDA_SEALED_TABLE_H_
#define KSEARCH_GPU_WORKER_CUDA_SEALED_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "absl/status/statusor.h"

namespace ksearch {

// Prevents everybody in this process from unmapping these pages, mapping others over them or
// changing their protection (mseal). `address` and `bytes` must be whole pages. Returns false on
// kernels before 6.10.
bool SealPages(const void* address, size_t bytes);

// A copy of `bytes` bytes in its own pages: read-only, and sealed if the kernel supports it.
struct SealedCopy {
  void* address = nullptr;
  size_t mapped_bytes = 0;
  bool sealed = false;
};
absl::StatusOr<SealedCopy> CopyToSealedPages(const void* from, size_t bytes);

// A table that other code in this process cannot write to: a stray or a hostile write faults. If
// the kernel cannot seal, code that calls mprotect first still can. The pages of a sealed table
// stay until the process ends.
template <typename Table>
absl::StatusOr<std::shared_ptr<const Table>> SealTable(const Table& table) {
  static_assert(std::is_trivially_copyable_v<Table>);
  absl::StatusOr<SealedCopy> copy = CopyToSealedPages(&table, sizeof table);
  if (!copy.ok()) return copy.status();
  return std::shared_ptr<const Table>(static_cast<const Table*>(copy->address),
                                      [](const Table*) {});
}

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_SEALED_TABLE_H_
