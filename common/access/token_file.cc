#include "common/access/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "common/access/access_token.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

absl::Status CheckRecords(const v1::AccessTokens& list, const std::string& path) {
  std::set<std::string> ids;
  for (int i = 0; i < list.tokens_size(); ++i) {
    const v1::AccessToken& token = list.tokens(i);
    const std::string where = absl::StrCat(path, ": tokens[", i, "]");
    if (token.token_id().empty() || !ids.insert(token.token_id()).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, ".token_id is empty or used twice"));
    }
    if (RoleName(token.role()).empty()) {
      return absl::InvalidArgumentError(absl::StrCat(where, ".role is missing"));
    }
    if (!IsSha256Hex(token.sha256())) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ".sha256 must be 64 lower-case hex digits"));
    }
  }
  for (int i = 0; i < list.revoked_workers_size(); ++i) {
    if (list.revoked_workers(i).worker_id().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": revoked_workers[", i, "].worker_id is empty"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::AccessTokens> ReadTokenFile(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) return ErrnoStatus(errno, absl::StrCat("open ", path));
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " may be written by others: run `chmod 600 ", path, "`"));
  }
  v1::AccessTokens list;
  RETURN_IF_ERROR(ReadTextproto(path, &list));
  RETURN_IF_ERROR(CheckRecords(list, path));
  return list;
}

absl::Status UpdateTokenFile(const std::string& path,
                             const std::function<absl::Status(v1::AccessTokens*)>& change) {
  // The file itself is replaced, so it cannot carry the lock.
  const std::string lock_path = absl::StrCat(path, ".lock");
  const UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.ok()) return ErrnoStatus(errno, absl::StrCat("open ", lock_path));
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, absl::StrCat("lock ", lock_path));
  }
  auto list = ReadTokenFile(path);
  if (!list.ok()) {
    if (!absl::IsNotFound(list.status())) return list.status();
    list = v1::AccessTokens();
  }
  RETURN_IF_ERROR(change(&*list));
  return WriteFileAtomically(
      path,
      absl::StrCat("# proto-message: ksearch.v1.AccessTokens\n"
                   "# Written by `ksearch token`. Hashes only, no secrets.\n",
                   ToTextproto(*list)),
      0600);
}

}  // namespace ksearch
