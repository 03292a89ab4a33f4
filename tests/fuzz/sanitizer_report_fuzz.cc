#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "gpu_worker/verifier/instruments/sanitizer_report.h"

// Any bytes give few findings with short printable texts, errors before warnings.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* tool : {"memcheck", "racecheck", "synccheck"}) {
    const ksearch::SanitizerLog log = ksearch::ReadSanitizerReport(tool, text);
    if (log.findings.size() > static_cast<size_t>(ksearch::kMaxSanitizerFindings)) std::abort();
    bool warning = false;
    for (const ksearch::v1::SanitizerFinding& finding : log.findings) {
      if (warning && !finding.warning()) std::abort();
      warning = finding.warning();
      if (finding.text().size() > 500 || finding.kernel().size() > 200) std::abort();
      for (const std::string* words : {&finding.text(), &finding.kernel()}) {
        for (const char c : *words) {
          if (c < 0x20 || c > 0x7e) std::abort();
        }
      }
    }
  }
  return 0;
}
