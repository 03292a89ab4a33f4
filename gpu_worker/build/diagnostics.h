#ifndef KSEARCH_GPU_WORKER_BUILD_DIAGNOSTICS_H_
#define KSEARCH_GPU_WORKER_BUILD_DIAGNOSTICS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"

namespace ksearch {

inline constexpr size_t kMaxLogExcerptBytes = 6 << 10;  // BuildReport.log_excerpt
inline constexpr int kMaxDiagnostics = 20;              // BuildReport.diagnostics

struct CompilerLog {
  std::vector<v1::Diagnostic> diagnostics;  // errors first, then warnings; no duplicates
  std::string excerpt;
};

// Makes the log of GCC, Clang or a linker short enough for a model to read and act on: the first
// real errors with the code they refer to, template backtraces cut to their first steps, repeated
// messages once, absolute paths reduced to file names, control characters dropped. Accepts any
// bytes. All text is valid UTF-8, as proto strings must be.
CompilerLog DigestCompilerLog(absl::string_view log);

// Shortens `text`, which must be valid UTF-8, to at most `limit` bytes of valid UTF-8.
void CutUtf8(size_t limit, std::string* text);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_DIAGNOSTICS_H_
