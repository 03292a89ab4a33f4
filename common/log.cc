#include "common/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace ksearch {
namespace {

LogLevel LevelFromEnvironment() {
  const char* text = std::getenv("KSEARCH_LOG");  // NOLINT(concurrency-mt-unsafe)
  const absl::string_view level = text == nullptr ? "" : text;
  if (level == "debug") return LogLevel::kDebug;
  if (level == "warning") return LogLevel::kWarning;
  if (level == "error") return LogLevel::kError;
  return LogLevel::kInfo;
}

std::atomic<LogLevel>& MinimumLevel() {
  static std::atomic<LogLevel> level{LevelFromEnvironment()};
  return level;
}

std::string& Name() {
  static std::string* const name = new std::string("ksearch");
  return *name;
}

void WriteLine(const std::string& line) {
  // A full pipe or closed stderr must not stop the program.
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

const char* BaseName(const char* file) {
  const char* slash = std::strrchr(file, '/');
  return slash == nullptr ? file : slash + 1;
}

}  // namespace

void SetMinimumLogLevel(LogLevel level) { MinimumLevel() = level; }
bool LogEnabled(LogLevel level) { return level >= MinimumLevel(); }
void SetLogName(absl::string_view name) { Name() = std::string(name); }

LogLine::LogLine(LogLevel level, const char* file, int line)
    : level_(level), file_(file), line_(line) {}

LogLine::~LogLine() {
  static constexpr char kLetters[] = {'D', 'I', 'W', 'E'};
  std::string text = stream_.str();
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  WriteLine(absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()),
                         " ", std::string(1, kLetters[static_cast<int>(level_)]), " ", Name(), " ",
                         BaseName(file_), ":", line_, " ", text, "\n"));
}

void CheckFailed(const char* file, int line, const char* condition, absl::string_view message) {
  WriteLine(absl::StrCat(Name(), ": CHECK failed at ", BaseName(file), ":", line, ": ", condition,
                         message.empty() ? "" : ": ", message, "\n"));
  std::abort();
}

}  // namespace ksearch
