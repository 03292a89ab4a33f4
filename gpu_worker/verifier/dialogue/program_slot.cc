#include "gpu_worker/verifier/dialogue/program_slot.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/folder_digest.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

// The time of all files that a program sees of itself, 2001-09-09: their real time would reveal how
// long ago it was built.
constexpr std::time_t kFileTime = 1'000'000'000;

void SetFileTime(const fs::path& path) {
  const struct timespec times[] = {{kFileTime, 0}, {kFileTime, 0}};
  ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

absl::Status Trouble(absl::string_view what, const std::string& path,
                     const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(what, " ", path, ": ", error.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProgramSlot>> ProgramSlot::Make(const std::string& folder,
                                                               const std::string& writable) {
  const std::string path = absl::StrCat(folder, "/", RandomHex(16));
  std::error_code error;
  fs::create_directory(path, error);
  std::unique_ptr<ProgramSlot> slot(new ProgramSlot(path, writable));
  if (!error && !writable.empty()) fs::create_directory(path + "/" + writable, error);
  if (error) return Trouble("make", path, error);
  return slot;
}

ProgramSlot::~ProgramSlot() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

absl::Status ProgramSlot::Fill(const ProgramImage& program) {
  std::error_code error;
  fs::recursive_directory_iterator at(program.folder(), error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string name = at->path().lexically_relative(program.folder()).string();
    const fs::path shown = fs::path(path_) / name;
    if (at->symlink_status(error).type() == fs::file_type::directory) {
      if (!error) fs::create_directory(shown, error);
      continue;
    }
    // A link there could be written through, to the file that others read.
    if (!writable_.empty() && absl::StartsWith(name, writable_ + "/")) {
      return absl::InternalError(
          absl::StrCat("program '", program.id(), "' has the file ", name, " where it compiles"));
    }
    if (error) break;
    fs::copy_file(at->path(), shown, error);
    if (!error) SetFileTime(shown);
  }
  if (error) return Trouble("show a program in", path_, error);
  ASSIGN_OR_RETURN(const std::string sha256, FolderSha256(path_, ProgramImage::kMaxBytes));
  if (sha256 == program.sha256()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("program '", program.id(), "' shown in ", path_,
                                                    " has SHA-256 ", sha256, ", not ",
                                                    program.sha256()));
}

absl::Status ProgramSlot::MoveWritten(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) fs::rename(path_ + "/" + writable_, folder, error);
  return error ? Trouble("move what was compiled to", folder, error) : absl::OkStatus();
}

}  // namespace ksearch
