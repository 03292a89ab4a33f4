#include "coordinator/proposer/language/cpp_text.h"

#include "absl/strings/string_view.h"
#include "coordinator/proposer/language/c_entry_text.h"

namespace ksearch {
namespace {

constexpr absl::string_view kRules = R"(For C++:
- C++20, the standard library and the compiler's vector intrinsics are available; nothing else is
  (no OpenMP, BLAS or other library, no inline assembly that includes files).
- Threads may be started with std::thread and must all be joined before the call returns. Starting
  one costs some 10 to 50 microseconds, so small workloads are better off without.
- Return 0. Let no exception leave the entry point.
)";

constexpr absl::string_view kPlanning =
    "scratch memory comes with the call. C++20 with the standard library and vector intrinsics; "
    "threads are started and joined within "
    "the call.";

constexpr absl::string_view kHints =
    R"(- Decide first whether memory bandwidth, instruction throughput or thread start-up bounds each workload.
- Keep working sets in L1/L2 by blocking; read memory in long contiguous runs; fuse passes.
- Vectorize explicitly where the compiler may not: several independent accumulators, masked or
  scalar tails, no gather where a transposed copy of a small block does better.
- Use as many threads as the work repays, each on a contiguous share of whole cache lines.
)";

}  // namespace

LanguageWords CppText::Words(v1::DeviceClass /*device*/) const { return CWords(kPlanning); }

std::string CppText::Rules(v1::DeviceClass /*device*/, bool /*paper*/) const {
  return std::string(kRules);
}

std::string CppText::Entry(const v1::Definition& /*definition*/) const { return CEntryText(""); }

std::string CppText::EntryPoint(const v1::Definition& /*definition*/, v1::DeviceClass /*device*/,
                                const std::string& kernel_header) const {
  return CEntryPointText("", kernel_header);
}

std::string CppText::Hints(v1::DeviceClass /*device*/, const std::string& /*hardware*/) const {
  return std::string(kHints);
}

}  // namespace ksearch
