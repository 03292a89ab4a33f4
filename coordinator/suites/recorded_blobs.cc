#include "coordinator/suites/recorded_blobs.h"

#include <errno.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/digest.h"
#include "common/mapped_file.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// More tensors of that size than any data set has.
constexpr size_t kMostNames = 100'000;

absl::StatusOr<absl::string_view> Within(const MappedFile& file, const FileRange& range) {
  const absl::string_view bytes = file.bytes();
  if (range.begin < 0 || range.bytes < 0 ||
      range.begin + range.bytes > static_cast<int64_t>(bytes.size())) {
    return absl::InvalidArgumentError(absl::StrCat(range.path, " has become shorter"));
  }
  return bytes.substr(static_cast<size_t>(range.begin), static_cast<size_t>(range.bytes));
}

}  // namespace

absl::StatusOr<std::string> RecordedBlobs::NameOf(const FileRange& range) {
  struct stat facts;
  if (::stat(range.path.c_str(), &facts) != 0) {
    return ErrnoStatus(errno, absl::StrCat("look at ", range.path));
  }
  const Key key = {range.path, int64_t{facts.st_size},
                   int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec,
                   range.begin, range.bytes};
  {
    MutexLock lock(&mu_);
    if (const auto known = names_.find(key); known != names_.end()) return known->second;
  }
  ASSIGN_OR_RETURN(const auto file, MappedFile::Open(range.path));
  ASSIGN_OR_RETURN(const absl::string_view bytes, Within(*file, range));
  std::string name = Sha256Hex(bytes);
  MutexLock lock(&mu_);
  if (names_.size() >= kMostNames) names_.clear();
  names_[key] = name;
  return name;
}

absl::Status RecordedBlobs::Keep(const std::string& sha256, const FileRange& range) {
  if (folder_.Use(sha256).ok()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto file, MappedFile::Open(range.path));
  ASSIGN_OR_RETURN(const absl::string_view bytes, Within(*file, range));
  const absl::Status put = folder_.Put(sha256, bytes);
  if (absl::IsInvalidArgument(put)) {
    return absl::FailedPreconditionError(
        absl::StrCat(range.path, " has changed just now: try again"));
  }
  return put;
}

}  // namespace ksearch
