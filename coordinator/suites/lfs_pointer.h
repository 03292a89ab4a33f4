#ifndef KSEARCH_COORDINATOR_SUITES_LFS_POINTER_H_
#define KSEARCH_COORDINATOR_SUITES_LFS_POINTER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The beginning of the pointer file that Git leaves in place of a file in Git LFS.
inline constexpr absl::string_view kLfsBeginning = "version https://git-lfs";

// FAILED_PRECONDITION if the file's text is such a pointer.
inline absl::Status CheckIsNoLfsPointer(const std::string& path, absl::string_view text) {
  if (!absl::StartsWith(text, kLfsBeginning)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " is a pointer of Git LFS, not the file; get it with `git lfs pull`"));
}

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_LFS_POINTER_H_
