#include "gpu_worker/cuda/sealed_table.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/status_macros.h"

namespace ksearch {
namespace {

// The same on every 64-bit architecture; older headers lack it.
constexpr long kSysMseal = 462;

}  // namespace

bool SealPages(const void* address, size_t bytes) {
  return ::syscall(kSysMseal, address, bytes, 0UL) == 0;
}

absl::StatusOr<SealedCopy> CopyToSealedPages(const void* from, size_t bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  SealedCopy copy;
  copy.mapped_bytes = (bytes + page - 1) / page * page;
  copy.address = ::mmap(nullptr, copy.mapped_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy.address == MAP_FAILED) return ErrnoStatus(errno, "allocate pages for a table");
  std::memcpy(copy.address, from, bytes);
  if (::mprotect(copy.address, copy.mapped_bytes, PROT_READ) != 0) {
    const int error = errno;
    ::munmap(copy.address, copy.mapped_bytes);
    return ErrnoStatus(error, "make a table read-only");
  }
  copy.sealed = SealPages(copy.address, copy.mapped_bytes);
  return copy;
}

}  // namespace ksearch
