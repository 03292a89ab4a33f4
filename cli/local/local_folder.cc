#include "cli/local/local_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr char kLockName[] = "/up.lock";
constexpr char kRootsFolder[] = "/var/lib/ksearch-local";
// flock has no timed wait.
constexpr absl::Duration kLockRetry = absl::Milliseconds(50);
constexpr absl::Duration kSayThatItWaits = absl::Seconds(1);

bool MayEnter(const struct stat& folder, int account) {
  const auto id = static_cast<uid_t>(account);
  if (folder.st_uid == id) return (folder.st_mode & S_IXUSR) != 0;
  if (folder.st_gid == static_cast<gid_t>(account)) return (folder.st_mode & S_IXGRP) != 0;
  return (folder.st_mode & S_IXOTH) != 0;
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("create the folder above ", path));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("create ", path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> LocalFolder::PathFrom(const std::string& given,
                                                  const Environment& environment, bool as_root) {
  const std::string xdg = ValueOf(environment, "XDG_STATE_HOME");
  const std::string home = ValueOf(environment, "HOME");
  std::string path;
  if (!given.empty()) {
    path = given;
  } else if (absl::StartsWith(xdg, "/")) {  // the XDG standard says to ignore relative paths
    path = xdg + "/ksearch";
  } else if (as_root) {
    path = kRootsFolder;
  } else if (absl::StartsWith(home, "/")) {
    path = home + "/.local/state/ksearch";
  } else {
    return absl::InvalidArgumentError(
        "neither XDG_STATE_HOME nor HOME names a folder: give --state-dir");
  }
  std::error_code error;
  path = std::filesystem::absolute(path, error).lexically_normal();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const LocalFolder folder(path, as_root);
  if (folder.socket().size() >= sizeof sockaddr_un{}.sun_path) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the path of the socket, ", folder.socket(), ", is longer than the ",
        sizeof sockaddr_un{}.sun_path - 1, " characters of a Unix socket: give --state-dir"));
  }
  return path;
}

bool LocalFolder::Exists(const std::string& path) {
  return ::access((path + kLockName).c_str(), F_OK) == 0;
}

absl::StatusOr<LocalFolder> LocalFolder::Open(const std::string& path, bool as_root) {
  RETURN_IF_ERROR(MakeFolder(path));
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) return ErrnoStatus(errno, absl::StrCat("open ", path));
  if (!S_ISDIR(facts.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is not a folder; give another --state-dir"));
  }
  if (facts.st_uid != ::geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " belongs to another account (uid ", facts.st_uid,
                     "), who could read what is kept there: give another --state-dir"));
  }
  std::error_code error;
  // Closing a folder such as /tmp to everybody else would be worse than an error.
  if (!Exists(path) && !std::filesystem::is_empty(path, error)) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is in use for something else: give --state-dir a new or empty folder"));
  }
  // Created first: the lock file distinguishes an interrupted start from an unrelated folder.
  const UniqueFd lock(::open((path + kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.ok()) return ErrnoStatus(errno, absl::StrCat("open ", path, kLockName));
  const mode_t mode = as_root ? 0710 : 0700;
  if (as_root && ::chown(path.c_str(), 0, kLocalWorkerAccount) != 0) {
    return ErrnoStatus(errno, absl::StrCat("chown ", path));
  }
  if (::chmod(path.c_str(), mode) != 0) return ErrnoStatus(errno, absl::StrCat("chmod ", path));
  if (as_root) {
    const std::string closed = FolderClosedTo(kLocalWorkerAccount, path);
    if (!closed.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "started by root the worker becomes uid ", kLocalWorkerAccount, ", which may not enter ",
          closed, ": run `chmod o+x ", closed, "`, or give --state-dir"));
    }
  }
  const LocalFolder folder(path, as_root);
  for (const std::string& inner : {folder.coordinator_state(), folder.tasks()}) {
    RETURN_IF_ERROR(MakeFolder(inner));
  }
  return folder;
}

absl::StatusOr<UniqueFd> LocalFolder::Lock(absl::Duration wait) const {
  const std::string lock_path = path_ + kLockName;
  UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.ok()) return ErrnoStatus(errno, absl::StrCat("open ", lock_path));
  const absl::Time begin = Clock::Real().SteadyNow();
  bool said = false;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, absl::StrCat("lock ", lock_path));
    const absl::Duration waited = Clock::Real().SteadyNow() - begin;
    if (waited >= wait) {
      return absl::DeadlineExceededError(
          absl::StrCat("another ksearch is starting or stopping the local pair for more than ",
                       absl::FormatDuration(wait), "; it holds ", lock_path));
    }
    if (!said && waited >= kSayThatItWaits) {
      std::fprintf(stderr, "another ksearch is starting or stopping the local pair; waiting\n");
      said = true;
    }
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(kLockRetry));
  }
  return lock;
}

absl::Status LocalFolder::ShareSocket() const {
  if (!as_root_) return absl::OkStatus();
  if (::chown(socket().c_str(), 0, kLocalWorkerAccount) != 0 ||
      ::chmod(socket().c_str(), 0660) != 0) {
    return ErrnoStatus(errno, absl::StrCat("let the worker's account use ", socket()));
  }
  return absl::OkStatus();
}

std::string FolderClosedTo(int account, const std::string& path) {
  std::filesystem::path folder;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    folder /= part;
    struct stat facts;
    if (::stat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) continue;
    if (!MayEnter(facts, account)) return folder;
  }
  return "";
}

}  // namespace ksearch
