#include "gpu_worker/runner/mapped_buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ksearch {
namespace {

constexpr int64_t kPageBytes = 4096;
// Enough to reveal reads of uninitialized scratch memory, without filling for long.
constexpr int64_t kMaxPatternBytes = int64_t{64} << 20;
constexpr int64_t kMaxWorkspaceBytes = int64_t{1} << 40;
constexpr int kWorkspacePattern = 0xFB;  // never NaN: a large negative number

}  // namespace

bool MappedBuffers::Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds,
                        int* error_number, std::string* error) {
  *error_number = EINVAL;
  if (!request.append()) {
    Clear();
    workspace_fill_ = request.workspace_fill() == 0 ? kWorkspacePattern : request.workspace_fill();
    if (!blocks_.Start(request, error)) return false;
  }
  if (fds.size() < static_cast<size_t>(request.memory_bytes_size())) *error_number = EMFILE;
  if (!blocks_.Fits(request, fds.size(), error)) return false;
  const size_t first = mappings_.size();
  for (size_t i = 0; i < fds.size(); ++i) {
    const auto bytes = static_cast<size_t>(request.memory_bytes(static_cast<int>(i)));
    // Populated, so that no timed call has page faults.
    void* address =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fds[i].get(), 0);
    if (address == MAP_FAILED) {
      *error_number = errno;
      *error = std::string("mmap of a buffer: ") + std::strerror(errno);
      return false;
    }
    mappings_.push_back({address, bytes});
  }
  if (request.turns() && !fds.empty() &&
      mappings_.back().bytes == static_cast<size_t>(CallTurns::kBytes)) {
    turns_ = static_cast<CallTurns*>(mappings_.back().address);
  }
  for (const v1::MappedBuffer& buffer : request.buffers()) {
    const Mapping& mapping = mappings_[first + static_cast<size_t>(buffer.memory())];
    blocks_.SetBuffer(
        buffer, reinterpret_cast<uint64_t>(static_cast<char*>(mapping.address) + buffer.offset()));
  }
  return true;
}

bool MappedBuffers::AllocateWorkspace(int64_t bytes, int* error_number, std::string* error) {
  if (bytes <= 0) return true;
  if (bytes > kMaxWorkspaceBytes) {
    *error_number = ENOMEM;
    *error = "a workspace of " + std::to_string(bytes) + " bytes is beyond any limit";
    return false;
  }
  const int64_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const size_t total = static_cast<size_t>(rounded + 2 * kPageBytes);
  void* base = ::mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* usable = nullptr;
  if (base != MAP_FAILED) {
    mappings_.push_back({base, total});
    usable = static_cast<char*>(base) + kPageBytes;
  }
  if (usable == nullptr ||
      ::mprotect(usable, static_cast<size_t>(rounded), PROT_READ | PROT_WRITE) != 0) {
    *error_number = errno;
    *error = "no memory for a workspace of " + std::to_string(bytes) + " bytes";
    return false;
  }
  std::memset(usable, workspace_fill_, static_cast<size_t>(std::min(rounded, kMaxPatternBytes)));
  // Placed at the end as far as 64-byte alignment allows, so that an overrun hits the guard page.
  char* const workspace = usable + (rounded - bytes) / 64 * 64;
  blocks_.SetWorkspace(reinterpret_cast<uint64_t>(workspace), bytes);
  return true;
}

void MappedBuffers::Clear() {
  for (const Mapping& mapping : mappings_) ::munmap(mapping.address, mapping.bytes);
  mappings_.clear();
  turns_ = nullptr;
  blocks_.Clear();
}

}  // namespace ksearch
