#include "gpu_worker/build/compile/build_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

constexpr char kFolderPrefix[] = "build-";

void RemoveAbandonedFolders(const std::string& work_dir) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(work_dir, error)) {
    const std::string name = entry.path().filename();
    if (!absl::StartsWith(name, kFolderPrefix)) continue;
    const std::string rest = name.substr(sizeof kFolderPrefix - 1);
    int pid = 0;
    if (!absl::SimpleAtoi(rest.substr(0, rest.find('-')), &pid) || pid == ::getpid() ||
        ::access(absl::StrCat("/proc/", pid).c_str(), F_OK) == 0) {
      continue;
    }
    std::error_code ignored;
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

BuildFolder::~BuildFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

absl::Status BuildFolder::WriteSource(absl::string_view path, absl::string_view content) const {
  const std::filesystem::path target = std::filesystem::path(src()) / std::string(path);
  std::error_code error;
  std::filesystem::create_directories(target.parent_path(), error);
  const UniqueFd fd(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("create ", target.string()));
  while (!content.empty()) {
    const ssize_t n = ::write(fd.get(), content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoStatus(errno, absl::StrCat("write ", target.string()));
    content.remove_prefix(static_cast<size_t>(n));
  }
  // __TIMESTAMP__ would tell a program when it was built.
  const struct timespec times[] = {{kSourceTime, 0}, {kSourceTime, 0}};
  if (::futimens(fd.get(), times) != 0) {
    return ErrnoStatus(errno, absl::StrCat("set the time of ", target.string()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BuildFolders>> BuildFolders::Create(const std::string& work_dir) {
  std::error_code error;
  std::filesystem::create_directories(work_dir, error);
  RemoveAbandonedFolders(work_dir);
  std::unique_ptr<BuildFolders> folders(
      new BuildFolders(absl::StrCat(std::filesystem::absolute(work_dir).string(), "/",
                                    kFolderPrefix, ::getpid(), "-", RandomHex(4))));
  std::filesystem::create_directories(folders->path_, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat("mkdir ", folders->path_, ": ", error.message()));
  }
  return folders;
}

BuildFolders::~BuildFolders() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

absl::StatusOr<std::shared_ptr<const BuildFolder>> BuildFolders::Make(const v1::Sources& sources) {
  const std::string path = absl::StrCat(path_, "/", next_build_++);
  if (::mkdir(path.c_str(), 0700) != 0) return ErrnoStatus(errno, absl::StrCat("mkdir ", path));
  auto folder = std::make_shared<const BuildFolder>(path);
  for (const std::string& part : {folder->src(), folder->out()}) {
    if (::mkdir(part.c_str(), 0700) != 0) return ErrnoStatus(errno, absl::StrCat("mkdir ", part));
  }
  for (const v1::SourceFile& file : sources.files()) {
    RETURN_IF_ERROR(folder->WriteSource(file.path(), file.content()));
  }
  return folder;
}

}  // namespace ksearch
