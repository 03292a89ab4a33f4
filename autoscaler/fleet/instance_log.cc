#include "autoscaler/fleet/instance_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "autoscaler/fleet/program_call.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

constexpr off_t kMostBytes = 4096;

// The end of the file; "" if it cannot be read.
std::string EndOf(const std::string& path) {
  // O_NONBLOCK: opening must not block if the path is a pipe.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts;
  if (!file.ok() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return "";
  std::string text(static_cast<size_t>(std::min(facts.st_size, kMostBytes)), '\0');
  const ssize_t read =
      ::pread(file.get(), text.data(), text.size(), std::max<off_t>(0, facts.st_size - kMostBytes));
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, read)));
  return text;
}

}  // namespace

std::string SeeLog(const std::string& log) {
  if (log.empty()) return "";
  const std::string last = LastLine(EndOf(log));
  return absl::StrCat(": see ", log, last.empty() ? "" : absl::StrCat(", which ends with: ", last));
}

}  // namespace ksearch
