#include "coordinator/suites/module_programs.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/kernel_header.h"
#include "common/program_form.h"
#include "common/status_macros.h"
#include "coordinator/suites/callable_program.h"
#include "coordinator/suites/problem_language.h"
#include "coordinator/suites/python/module_scripts.h"

namespace ksearch {
namespace {

constexpr char kCandidateClass[] = "ModelNew";
constexpr char kProblemFile[] = "problem.py";

// Instructions for models. The facts come from KernelBench's src/kernelbench/eval.py.
constexpr char kInstructions[] =
    R"(- `class ModelNew(torch.nn.Module)`, with the constructor arguments and the `forward` arguments of `Model` in
  the reference, and the same result.
- It registers the same parameters and buffers as `Model`: create the same layers in the same order, or
  parameters of the same names and shapes. Their values are given anew before every call, so nothing that is
  computed from them may be kept, and their initial values do not matter.
- The module is made once, moved to the task's device and precision ({precision}), stays in train mode, and is
  called without gradients. What else it makes in its constructor may depend on its arguments alone.
- `forward` returns new tensors of exactly the shapes and dtypes of the reference's, and changes no input.
- The file imports what it uses and uses no other name of the reference's file; it defines no `run`.
)";

// Part of the entry of a module that is called through torch.compile. Other programs must not
// contain it: a worker calls programs that may compile once more before it checks them.
constexpr char kCompiled[] = R"(from torch import _dynamo

            for limit in ("cache_size_limit", "recompile_limit"):
                if hasattr(_dynamo.config, limit):
                    setattr(_dynamo.config, limit, 1024)
            called = torch.compile(module, dynamic=False))";

void AddFile(absl::string_view path, absl::string_view text, v1::Sources* sources) {
  v1::SourceFile* const file = sources->add_files();
  file->set_path(std::string(path));
  file->set_content(std::string(text));
}

// "(10, 20, )"
std::string TupleText(const std::vector<int64_t>& extents) {
  std::string text = "(";
  for (const int64_t extent : extents) absl::StrAppend(&text, extent, ", ");
  return text + ")";
}

// The parts of a tensor: [("fc.weight", (10, 20, ), 0), ...]. Paths have letters, digits, '_', '.'.
std::string PackText(const DescribedTensor& tensor) {
  if (tensor.parts.empty()) {
    return absl::StrCat("[(\"", tensor.path, "\", ", TupleText(tensor.shape), ", 0)]");
  }
  std::string text = "[";
  for (const PackedPart& part : tensor.parts) {
    absl::StrAppend(&text, "(\"", part.path, "\", ", TupleText(part.shape), ", ", part.first,
                    "), ");
  }
  return text + "]";
}

std::string PacksText(const std::vector<DescribedTensor>& tensors) {
  std::string text = "[";
  for (const DescribedTensor& tensor : tensors) absl::StrAppend(&text, PackText(tensor), ", ");
  return text + "]";
}

// [("p_w", 128 or None, [...]), ...]: None for a tensor without parts.
std::string NamedPacksText(const ProblemDescription& problem) {
  std::string text = "[";
  for (const auto* group : {&problem.parameters, &problem.buffers}) {
    for (const DescribedTensor& tensor : *group) {
      absl::StrAppend(&text, "(\"", tensor.name, "\", ",
                      tensor.parts.empty() ? "None" : absl::StrCat(tensor.shape[0]), ", ",
                      PackText(tensor), "), ");
    }
  }
  return text + "]";
}

std::string TorchType(v1::DType dtype) { return absl::StrCat("torch.", DTypeName(dtype)); }

// ["float32", None, ...]: None for numbers.
std::string TypesText(const std::vector<DescribedTensor>& tensors) {
  std::string text = "[";
  for (const DescribedTensor& tensor : tensors) {
    absl::StrAppend(
        &text, tensor.scalar ? "None" : absl::StrCat("\"", DTypeName(tensor.dtype), "\""), ", ");
  }
  return text + "]";
}

}  // namespace

v1::Sources DescribingProgram(absl::string_view problem, const ModulePrecision& precision) {
  v1::Sources sources;
  sources.set_language(ProblemLanguage().id);
  AddFile(ProblemLanguage().main_path,
          absl::StrReplaceAll(DescribeModuleScript(),
                              {{"@PRECISION@", DTypeName(precision.dtype)},
                               {"@TOLERANCE@", absl::StrCat(precision.tolerance)}}),
          &sources);
  AddFile(kProblemFile, problem, &sources);
  return sources;
}

std::string ModuleEntry(const ModuleCall& call, const ProblemDescription& problem,
                        const ModulePrecision& precision) {
  std::vector<std::string> arguments, inputs, copied;
  std::string device = "\"cpu\"";
  for (const auto* group : {&problem.inputs, &problem.parameters, &problem.buffers}) {
    for (const DescribedTensor& tensor : *group) {
      if (!tensor.scalar && device[0] == '"') device = absl::StrCat(tensor.name, ".device");
      arguments.push_back(tensor.name);
    }
  }
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const DescribedTensor& tensor = problem.inputs[i];
    inputs.push_back(absl::StrCat("\"", tensor.name, "\""));
    if (!tensor.scalar && (call.reference || (call.baseline && tensor.written))) {
      copied.push_back(absl::StrCat(i));
    }
  }
  const std::vector<std::pair<std::string, std::string>> values = {
      {"@CLASS@", std::string(call.class_name)},
      {"@INIT@", problem.init},
      {"@PARAMETERS@", PacksText(problem.parameters)},
      {"@BUFFERS@", PacksText(problem.buffers)},
      {"@COPIED@", absl::StrCat("[", absl::StrJoin(copied, ", "), "]")},
      {"@COMPILED@", call.compiled ? kCompiled : ""},
      {"@PRECISION@", TorchType(precision.dtype)},
      {"@ARGUMENTS@", absl::StrJoin(arguments, ", ")},
      {"@DEVICE@", device},
      {"@INPUTS@", absl::StrCat("[", absl::StrJoin(inputs, ", "), "]")},
      {"@PACKS@", NamedPacksText(problem)}};
  const bool makes = call.reference && problem.made;
  return absl::StrReplaceAll(absl::StrCat(ModuleEntryScript(), makes ? ModuleInputsScript() : ""),
                             values);
}

v1::ProgramForm ModelNewForm(const ProblemDescription& problem, const ModulePrecision& precision) {
  v1::ProgramForm form;
  form.set_name(kCandidateClass);
  form.set_language(ProblemLanguage().id);
  form.add_begins(absl::StrCat("class ", kCandidateClass, "("));
  form.add_begins(absl::StrCat("class ", kCandidateClass, ":"));
  form.add_begins_not("def run(");
  form.set_suffix(ModuleEntry({.class_name = kCandidateClass}, problem, precision));
  form.set_instructions(
      absl::StrReplaceAll(kInstructions, {{"{precision}", DTypeName(precision.dtype)}}));
  return form;
}

absl::StatusOr<std::string> ModelNewFile(absl::string_view problem_text,
                                         const v1::Definition& definition,
                                         const ProblemDescription& problem,
                                         const ModulePrecision& precision,
                                         const v1::Sources& program) {
  v1::Task task;
  *task.add_forms() = ModelNewForm(problem, precision);
  if (FormOf(task, program) != nullptr) return program.files(0).content();
  ASSIGN_OR_RETURN(const std::string callable, CallableProgram(definition, program));
  std::vector<std::string> axes;
  for (const v1::Axis& axis : definition.axes()) axes.push_back(absl::StrCat(axis.const_value()));
  std::string outputs = "[";
  for (const DescribedTensor& output : problem.outputs) {
    absl::StrAppend(&outputs, "(", TupleText(output.shape), ", \"", DTypeName(output.dtype),
                    "\"), ");
  }
  std::vector<DescribedTensor> held = problem.parameters;
  held.insert(held.end(), problem.buffers.begin(), problem.buffers.end());
  return absl::StrCat(
      problem_text, absl::EndsWith(problem_text, "\n") ? "" : "\n", "\n\n", callable,
      absl::StrReplaceAll(ModuleExportScript(),
                          {{"@AXES@", absl::StrCat("[", absl::StrJoin(axes, ", "), "]")},
                           {"@INPUTS@", TypesText(problem.inputs)},
                           {"@HELD@", TypesText(held)},
                           {"@PACKS@", NamedPacksText(problem)},
                           {"@OUTPUTS@", outputs + "]"}}));
}

}  // namespace ksearch
