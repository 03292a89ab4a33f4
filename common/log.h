#ifndef KSEARCH_COMMON_LOG_H_
#define KSEARCH_COMMON_LOG_H_

#include <sstream>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// LOG(INFO) << "msg=\"worker joined\" worker=" << id;  One line on stderr, written with one
// write(). ERROR = a person must look, WARNING = degraded, INFO = state change, DEBUG = detail
// (only with SetMinimumLogLevel or KSEARCH_LOG=debug). Never log secrets or whole prompts.
enum class LogLevel { kDebug, kInfo, kWarning, kError };

void SetMinimumLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);
// First word of every line; the program's name. Call once in main.
void SetLogName(absl::string_view name);

class LogLine {
 public:
  LogLine(LogLevel level, const char* file, int line);
  ~LogLine();
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;
  std::ostream& stream() { return stream_; }

 private:
  LogLevel level_;
  const char* file_;
  int line_;
  std::ostringstream stream_;
};

// Makes the streaming form of LOG a void expression.
struct LogVoidify {
  void operator&(std::ostream&) const {}
};

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              absl::string_view message);

}  // namespace ksearch

#define KSEARCH_LOG_LEVEL_DEBUG ::ksearch::LogLevel::kDebug
#define KSEARCH_LOG_LEVEL_INFO ::ksearch::LogLevel::kInfo
#define KSEARCH_LOG_LEVEL_WARNING ::ksearch::LogLevel::kWarning
#define KSEARCH_LOG_LEVEL_ERROR ::ksearch::LogLevel::kError
#define LOG(level)                                  \
  !::ksearch::LogEnabled(KSEARCH_LOG_LEVEL_##level) \
      ? static_cast<void>(0)                        \
      : ::ksearch::LogVoidify() &                   \
            ::ksearch::LogLine(KSEARCH_LOG_LEVEL_##level, __FILE__, __LINE__).stream()

// A broken invariant ends the process, in release builds too: state is in SQLite, a restart is
// cheap.
#define CHECK(condition) \
  (condition) ? static_cast<void>(0) : ::ksearch::CheckFailed(__FILE__, __LINE__, #condition, "")
#define CHECK_OK(expr)                                                                     \
  do {                                                                                     \
    const auto& ksearch_check_status_ = (expr);                                            \
    if (!ksearch_check_status_.ok())                                                       \
      ::ksearch::CheckFailed(__FILE__, __LINE__, #expr, ksearch_check_status_.ToString()); \
  } while (false)

#endif  // KSEARCH_COMMON_LOG_H_
