#include "common/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/unique_fd.h"

namespace ksearch {

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  struct stat facts;
  if (::fstat(file.get(), &facts) != 0) return ErrnoStatus(errno, absl::StrCat("look at ", path));
  if (!S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  }
  const auto size = static_cast<size_t>(facts.st_size);
  void* memory = nullptr;
  if (size > 0) {
    memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) return ErrnoStatus(errno, absl::StrCat("map ", path));
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(memory, size));
}

MappedFile::~MappedFile() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
}

}  // namespace ksearch
