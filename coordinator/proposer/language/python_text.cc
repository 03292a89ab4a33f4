#include "coordinator/proposer/language/python_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/language.h"

namespace ksearch {
namespace {

constexpr absl::string_view kRules = R"(For Triton:
- Python with torch and triton. The work that counts belongs into @triton.jit kernels; torch is for
  allocating scratch tensors and for views, not for the computation itself.
- Write results into the output tensors that are passed in; whatever `run` returns is ignored.
- Launch on the current stream and do not synchronise. If you use triton.autotune, keep the list of
  configurations short: each is compiled on first use within the job's time limit.
)";

constexpr absl::string_view kPlanning =
    "Python with torch and triton; the work that counts is in @triton.jit kernels on the current "
    "stream.";

std::string Signature(const v1::Definition& definition) {
  std::vector<std::string> names;
  for (const v1::TensorSpec& tensor : definition.inputs()) names.push_back(tensor.name());
  for (const v1::TensorSpec& tensor : definition.outputs()) names.push_back(tensor.name());
  return absl::StrCat(FactsOf(v1::LANGUAGE_PYTHON).entry, "(", absl::StrJoin(names, ", "), "):");
}

}  // namespace

std::string PythonText::Rules(bool /*paper*/) const { return std::string(kRules); }

std::string PythonText::PlanningRules() const { return std::string(kPlanning); }

std::string PythonText::Entry(const v1::Definition& definition) const {
  return absl::StrCat("`", Signature(definition), "`");
}

std::string PythonText::EntryPoint(const v1::Definition& definition,
                                   const std::string& /*kernel_header*/) const {
  return absl::StrCat(
      FactsOf(v1::LANGUAGE_PYTHON).main_path, " must define\n\n", Signature(definition),
      "\n\nwith the inputs in the order of the definition (tensors as torch tensors on the "
      "device, "
      "scalars as Python numbers), then the outputs as preallocated tensors to be filled.\n");
}

std::string PythonText::Hints(const std::string& /*hardware*/) const { return ""; }

}  // namespace ksearch
