#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "gpu_worker/build/diagnostics.h"

// Any bytes give a bounded excerpt without control characters.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ksearch::CompilerLog log =
      ksearch::DigestCompilerLog(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (log.excerpt.size() > ksearch::kMaxLogExcerptBytes) std::abort();
  if (log.diagnostics.size() > static_cast<size_t>(ksearch::kMaxDiagnostics)) std::abort();
  for (const char c : log.excerpt) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') std::abort();
  }
  return 0;
}
