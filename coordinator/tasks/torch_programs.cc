#include "coordinator/tasks/torch_programs.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "common/trusted_programs.h"

namespace ksearch {
namespace {

constexpr char kBaselinePath[] = "baseline.py";

// The language of these programs.
v1::Language Python() { return FindLanguage(absl::string_view("python"))->id; }

// Code added below the user's text; all its names begin with _ksearch.
constexpr char kCompiled[] = R"(

# Added for `baseline: "torch.compile"` of task.textproto.
import torch as _ksearch_torch

if not hasattr(_ksearch_torch, "compile"):
    raise RuntimeError(
        f'baseline: "torch.compile" needs torch 2.0 or later, and this worker has torch '
        f"{_ksearch_torch.__version__}: write baseline: \"torch\", or give the worker another python"
    )
import torch._dynamo as _ksearch_dynamo

# Each workload's shapes are compiled by themselves, in the warm stage: nothing is compiled later.
for _ksearch_limit in ("cache_size_limit", "recompile_limit"):
    if hasattr(_ksearch_dynamo.config, _ksearch_limit):
        setattr(_ksearch_dynamo.config, _ksearch_limit, 1024)
run = _ksearch_torch.compile(run, dynamic=False)
)";

// PRECISION and INPUTS are replaced. Arguments are positional, as a task's names may be Python
// keywords.
constexpr char kInPrecision[] = R"(

# Added for `reference_precision: "PRECISION"` of task.textproto.
import inspect as _ksearch_inspect

import torch as _ksearch_torch

_ksearch_torch.backends.cuda.matmul.allow_tf32 = False
_ksearch_torch.backends.cudnn.allow_tf32 = False
_ksearch_narrow_run = run
_ksearch_precision = _ksearch_torch.PRECISION


def _ksearch_wide(value):
    floating = isinstance(value, _ksearch_torch.Tensor) and value.is_floating_point()
    return value.to(_ksearch_precision) if floating else value


def run(*arguments):
    inputs, outputs = arguments[:INPUTS], arguments[INPUTS:]
    inputs = [_ksearch_wide(value) for value in inputs]
    results = [_ksearch_wide(_ksearch_torch.empty_like(output)) for output in outputs]
    try:
        _ksearch_inspect.signature(_ksearch_narrow_run).bind(*inputs, *results)
    except TypeError:
        results = _ksearch_narrow_run(*inputs)
        results = results if isinstance(results, (tuple, list)) else (results,)
    else:
        _ksearch_narrow_run(*inputs, *results)
    if len(results) != len(outputs):
        raise TypeError(f"run returned {len(results)} values: return {len(outputs)}")
    for place, (result, output) in enumerate(zip(results, outputs)):
        wide = _ksearch_precision if output.is_floating_point() else output.dtype
        if not isinstance(result, _ksearch_torch.Tensor):
            raise TypeError(f"run returned a {type(result).__name__} as output {place}: return a tensor")
        if result.shape != output.shape or result.dtype not in (wide, output.dtype):
            raise TypeError(
                f"run returned a tensor of shape {tuple(result.shape)} and dtype {result.dtype} as "
                f"output {place}: return one of shape {tuple(output.shape)} and dtype {wide}, as "
                f"reference_precision says, or {output.dtype}"
            )
        output.copy_(result)
)";

v1::Sources* ReferenceInPython(v1::Task* task) {
  for (v1::Sources& sources : *task->mutable_references()) {
    if (sources.language() == Python()) return &sources;
  }
  return nullptr;
}

std::string WithBelow(absl::string_view text, absl::string_view below) {
  return absl::StrCat(text, absl::EndsWith(text, "\n") ? "" : "\n", below);
}

absl::Status NeedsReference(absl::string_view field) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": is for a reference.py, which the task does not have"));
}

absl::Status AddBaseline(const std::string& word, const v1::Sources* reference, v1::Task* task) {
  if (word != "torch" && word != "torch.compile") {
    return absl::InvalidArgumentError(absl::StrCat(
        "baseline: must be \"torch\" or \"torch.compile\", is \"", word.substr(0, 100), "\""));
  }
  if (reference == nullptr) return NeedsReference("baseline");
  if (FindInLanguage(task->baselines(), Python()) != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("baseline: is \"", word, "\", but there is a ",
                                                   kBaselinePath, " too: remove one of them"));
  }
  // The last language of the table is Python, so that the order is kept.
  v1::Sources* const baseline = task->add_baselines();
  baseline->set_language(Python());
  v1::SourceFile* const file = baseline->add_files();
  file->set_path(kBaselinePath);
  const std::string& text = reference->files(0).content();
  file->set_content(word == "torch" ? text : WithBelow(text, kCompiled));
  return absl::OkStatus();
}

}  // namespace

absl::Status AddTorchPrograms(const v1::TaskSettings& settings, v1::Task* task) {
  v1::Sources* const reference = ReferenceInPython(task);
  if (!settings.baseline().empty()) {
    RETURN_IF_ERROR(AddBaseline(settings.baseline(), reference, task));
  }
  const std::string& precision = settings.reference_precision();
  if (precision.empty()) return absl::OkStatus();
  if (precision != "float64" && precision != "float32") {
    return absl::InvalidArgumentError(
        absl::StrCat("reference_precision: must be \"float64\" or \"float32\", is \"",
                     precision.substr(0, 100), "\""));
  }
  if (reference == nullptr) return NeedsReference("reference_precision");
  std::string* const text = reference->mutable_files(0)->mutable_content();
  *text = WithBelow(
      *text, absl::StrReplaceAll(kInPrecision,
                                 {{"PRECISION", precision},
                                  {"INPUTS", absl::StrCat(task->definition().inputs_size())}}));
  return absl::OkStatus();
}

absl::Status CheckMadeInputs(const v1::Task& task) {
  for (const v1::Workload& workload : task.workloads()) {
    int made = 0, others = 0;
    for (const v1::InputRecipe& input : workload.inputs()) {
      if (input.has_made()) {
        ++made;
      } else if (!input.has_scalar()) {
        ++others;
      }
    }
    if (made == 0) continue;
    if (others > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("workload ", workload.uuid(), ": make_inputs makes ", made,
                       " tensors, recipes the other ", others, ": give all tensors the recipe \"",
                       kMakeInputs, "\", or none"));
    }
    const v1::Sources* const reference = FindInLanguage(task.references(), Python());
    if (reference == nullptr || task.references_size() != 1 ||
        !absl::StrContains(reference->files(0).content(), absl::StrCat("def ", kMakeInputs))) {
      return absl::InvalidArgumentError(
          absl::StrCat("workload ", workload.uuid(), ": the recipe \"", kMakeInputs,
                       "\" needs a reference.py that defines ", kMakeInputs,
                       "(seed, ...), and no reference in another language"));
    }
  }
  return absl::OkStatus();
}

}  // namespace ksearch
