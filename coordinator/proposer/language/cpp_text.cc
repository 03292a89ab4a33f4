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
    "C++20 with the standard library and vector intrinsics; threads are started and joined within "
    "the call.";

}  // namespace

std::string CppText::Rules(bool /*paper*/) const { return std::string(kRules); }

std::string CppText::PlanningRules() const { return std::string(kPlanning); }

std::string CppText::Entry(const v1::Definition& /*definition*/) const { return CEntryText(""); }

std::string CppText::EntryPoint(const v1::Definition& /*definition*/,
                                const std::string& kernel_header) const {
  return CEntryPointText("", kernel_header);
}

std::string CppText::Hints(const std::string& /*hardware*/) const { return ""; }

}  // namespace ksearch
