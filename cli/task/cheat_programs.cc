#include "cli/task/cheat_programs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/language.h"

namespace ksearch {
namespace {

// Calls the honest program in whichever of its two forms it is written.
constexpr char kHonest[] = R"(


import inspect as _inspect

_honest = run


def _answer(inputs, outputs):
    try:
        _inspect.signature(_honest).bind(*inputs, *outputs)
    except TypeError:
        results = _honest(*inputs)
        results = results if isinstance(results, (tuple, list)) else (results,)
        for output, result in zip(outputs, results):
            output.copy_(result)
    else:
        _honest(*inputs, *outputs)

)";

constexpr char kStale[] = R"(
_first = {}


def run(*arguments):
    inputs, outputs = arguments[:INPUTS], arguments[INPUTS:]
    sizes = tuple(tuple(output.shape) for output in outputs)
    if sizes not in _first:
        _answer(inputs, outputs)
        _first[sizes] = [output.clone() for output in outputs]
    for output, first in zip(outputs, _first[sizes]):
        output.copy_(first)
)";

constexpr char kTruncated[] = R"(

def run(*arguments):
    inputs, outputs = arguments[:INPUTS], arguments[INPUTS:]
    _answer(inputs, outputs)
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

// run(inputs..., outputs...) with these lines.
std::string Writing(const v1::Definition& definition, const std::vector<std::string>& lines) {
  std::vector<std::string> names;
  for (const v1::TensorSpec& input : definition.inputs()) names.push_back(input.name());
  for (const v1::TensorSpec& output : definition.outputs()) names.push_back(output.name());
  return absl::StrCat("def run(", absl::StrJoin(names, ", "), "):\n    ",
                      absl::StrJoin(lines, "\n    "), "\n");
}

const v1::TensorSpec* InputLike(const v1::Definition& definition, const v1::TensorSpec& output) {
  for (const v1::TensorSpec& input : definition.inputs()) {
    if (!input.scalar() && input.dtype() == output.dtype() &&
        std::equal(input.shape().begin(), input.shape().end(), output.shape().begin(),
                   output.shape().end())) {
      return &input;
    }
  }
  return nullptr;
}

// `text` below the honest program, told how many inputs there are.
std::string Below(const v1::Definition& definition, const v1::Sources& honest,
                  absl::string_view text) {
  return absl::StrCat(honest.files(0).content(), kHonest, "INPUTS = ", definition.inputs_size(),
                      "\n", text);
}

}  // namespace

std::vector<CheatProgram> CheatPrograms(const v1::Definition& definition,
                                        const v1::Sources& honest) {
  std::vector<std::string> zeros, copies;
  bool copied = false;
  for (const v1::TensorSpec& output : definition.outputs()) {
    zeros.push_back(absl::StrCat(output.name(), ".zero_()"));
    const v1::TensorSpec* const input = InputLike(definition, output);
    copied |= input != nullptr;
    copies.push_back(input == nullptr ? zeros.back()
                                      : absl::StrCat(output.name(), ".copy_(", input->name(), ")"));
  }
  return {
      {"zeros", "writes zeros", ProgramOf(honest, Writing(definition, zeros)), ""},
      {"copied", "copies an input", ProgramOf(honest, Writing(definition, copies)),
       copied ? "" : "no input has the shape and dtype of an output"},
      {"stale", "gives its first answer again",
       ProgramOf(honest, Below(definition, honest, kStale)), ""},
      {"truncated", "leaves out the last row",
       ProgramOf(honest, Below(definition, honest, kTruncated)), ""},
  };
}

}  // namespace ksearch
