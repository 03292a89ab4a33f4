#ifndef KSEARCH_COMMON_MAPPED_FILE_H_
#define KSEARCH_COMMON_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The bytes of a file, mapped instead of copied. If somebody truncates the file meanwhile, this
// process dies: use it only for files that nobody truncates (blobs in their folder), or briefly.
// Immutable, so thread-safe.
class MappedFile {
 public:
  // Every error names the path. INVALID_ARGUMENT: not a regular file.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  absl::string_view bytes() const { return {static_cast<const char*>(memory_), size_}; }

 private:
  MappedFile(void* memory, size_t size) : memory_(memory), size_(size) {}

  void* const memory_;  // null iff size_ is 0
  const size_t size_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_MAPPED_FILE_H_
