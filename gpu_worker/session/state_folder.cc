#include "gpu_worker/session/state_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

bool IsId(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<StateFolder>> StateFolder::Open(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("create state_dir ", path));
  const std::string lock_path = absl::StrCat(path, "/lock");
  UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.ok()) return ErrnoStatus(errno, absl::StrCat("open ", lock_path));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, absl::StrCat("lock ", lock_path));
    return absl::FailedPreconditionError(
        absl::StrCat("another worker uses state_dir ", path, "; give each worker its own"));
  }
  // Users who want to stop this folder's worker find its process id here.
  const std::string pid = absl::StrCat(::getpid(), "\n");
  if (::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return ErrnoStatus(errno, absl::StrCat("write ", lock_path));
  }
  const std::string id_path = absl::StrCat(path, "/worker_id");
  auto id = ReadFile(id_path, 1024);
  if (!id.ok() && !absl::IsNotFound(id.status())) return id.status();
  if (!id.ok()) {
    id = absl::StrCat("w-", RandomHex(6));
    RETURN_IF_ERROR(WriteFileAtomically(id_path, absl::StrCat(*id, "\n")));
  }
  absl::StripAsciiWhitespace(&*id);
  if (!IsId(*id)) {
    return absl::InvalidArgumentError(
        absl::StrCat(id_path, ": must hold 1 to 64 of [A-Za-z0-9_.-]; remove it for a new id"));
  }
  return std::unique_ptr<StateFolder>(new StateFolder(path, *id, std::move(lock)));
}

}  // namespace ksearch
