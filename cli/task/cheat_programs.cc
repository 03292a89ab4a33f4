#include "cli/task/cheat_programs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/language.h"

namespace ksearch {
namespace {

// Calls the honest program in whichever of the two forms it has.
constexpr char kHonest[] = R"(


import inspect as _ksearch_inspect

_ksearch_honest = run


def _ksearch_answer(inputs, outputs):
    try:
        _ksearch_inspect.signature(_ksearch_honest).bind(*inputs, *outputs)
    except TypeError:
        results = _ksearch_honest(*inputs)
        results = results if isinstance(results, (tuple, list)) else (results,)
        for output, result in zip(outputs, results):
            output.copy_(result)
    else:
        _ksearch_honest(*inputs, *outputs)

)";

constexpr char kStale[] = R"(
_ksearch_first = {}


def run(*arguments):
    inputs, outputs = arguments[:_ksearch_inputs], arguments[_ksearch_inputs:]
    sizes = tuple(tuple(output.shape) for output in outputs)
    if sizes not in _ksearch_first:
        _ksearch_answer(inputs, outputs)
        _ksearch_first[sizes] = [output.clone() for output in outputs]
    for output, first in zip(outputs, _ksearch_first[sizes]):
        output.copy_(first)
)";

constexpr char kTruncated[] = R"(

def run(*arguments):
    inputs, outputs = arguments[:_ksearch_inputs], arguments[_ksearch_inputs:]
    _ksearch_answer(inputs, outputs)
    for output in outputs:
        if output.dim() == 0:
            output.zero_()
        else:
            output[-1:].zero_()
)";

v1::Sources ProgramOf(const v1::Sources& honest, std::string text) {
  v1::Sources sources;
  sources.set_language(honest.language());
  v1::SourceFile* const file = sources.add_files();
  file->set_path(std::string(FactsOf(honest.language()).main_path));
  file->set_content(std::move(text));
  return sources;
}

// run(inputs..., outputs...) with these lines. A task's names may be Python keywords.
std::string Writing(const std::vector<std::string>& lines) {
  return absl::StrCat("def run(*arguments):\n    ", absl::StrJoin(lines, "\n    "), "\n");
}

// The index of the first input with this shape and dtype; -1 if there is none.
int InputLike(const v1::Definition& definition, const v1::TensorSpec& output) {
  for (int i = 0; i < definition.inputs_size(); ++i) {
    const v1::TensorSpec& input = definition.inputs(i);
    if (!input.scalar() && input.dtype() == output.dtype() &&
        std::equal(input.shape().begin(), input.shape().end(), output.shape().begin(),
                   output.shape().end())) {
      return i;
    }
  }
  return -1;
}

// `text` below the honest program, with a constant for the number of inputs.
std::string Below(const v1::Definition& definition, const v1::Sources& honest,
                  absl::string_view text) {
  return absl::StrCat(honest.files(0).content(), kHonest,
                      "_ksearch_inputs = ", definition.inputs_size(), "\n", text);
}

}  // namespace

std::vector<CheatProgram> CheatPrograms(const v1::Definition& definition,
                                        const v1::Sources& honest) {
  std::vector<std::string> zeros, copies;
  bool copied = false;
  for (int i = 0; i < definition.outputs_size(); ++i) {
    const std::string output = absl::StrCat("arguments[", definition.inputs_size() + i, "]");
    zeros.push_back(absl::StrCat(output, ".zero_()"));
    const int input = InputLike(definition, definition.outputs(i));
    copied |= input >= 0;
    copies.push_back(input < 0 ? zeros.back()
                               : absl::StrCat(output, ".copy_(arguments[", input, "])"));
  }
  return {
      {"zeros", "writes zeros", ProgramOf(honest, Writing(zeros)), ""},
      {"copied", "copies an input", ProgramOf(honest, Writing(copies)),
       copied ? "" : "no input has the shape and dtype of an output"},
      {"stale", "gives its first answer again",
       ProgramOf(honest, Below(definition, honest, kStale)), ""},
      {"truncated", "leaves out the last row",
       ProgramOf(honest, Below(definition, honest, kTruncated)), ""},
  };
}

}  // namespace ksearch
