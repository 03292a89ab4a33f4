#include "coordinator/suites/flashinfer/flashinfer_programs.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "coordinator/suites/flashinfer/evaluators/evaluator_table.h"
#include "coordinator/suites/flashinfer/python/solution_scripts.h"
#include "coordinator/suites/flashinfer/python_parameters.h"
#include "coordinator/suites/problem_language.h"

namespace ksearch {
namespace {

constexpr absl::string_view kPython = ".py";
constexpr absl::string_view kCudaEndings[] = {".cu"};
constexpr absl::string_view kCppEndings[] = {".cpp", ".cc", ".cxx", ".c"};

bool EndsWithAny(absl::string_view path, absl::Span<const absl::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](absl::string_view ending) { return absl::EndsWith(path, ending); });
}

// "a.cu", "b.cpp", as elements of a Python list: paths have only plain characters.
std::string ListOf(const FlashInferSolution& solution,
                   absl::Span<const absl::string_view> endings) {
  std::vector<std::string> paths;
  for (const v1::SourceFile& file : solution.sources) {
    if (EndsWithAny(file.path(), endings)) paths.push_back(absl::StrCat("\"", file.path(), "\""));
  }
  return absl::StrJoin(paths, ", ");
}

// The code by which a kind of solution gets its function: `_solution`, or the result of `_load()`.
absl::StatusOr<std::string> ImportOf(const FlashInferSolution& solution) {
  absl::string_view path = solution.entry_file;
  if (!absl::ConsumeSuffix(&path, kPython)) {
    return absl::InvalidArgumentError(
        absl::StrCat("its entry file '", solution.entry_file, "' is not a Python file"));
  }
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  const std::string module = absl::StrCat(kSolutionFolder, ".", absl::StrJoin(parts, "."));
  if (std::all_of(parts.begin(), parts.end(),
                  [](const auto& part) { return IsIdentifier(part); })) {
    return absl::StrCat("from ", module, " import ", solution.entry_symbol, " as _solution\n");
  }
  return absl::StrCat("import importlib\n\n_solution = importlib.import_module(\"", module, "\").",
                      solution.entry_symbol, "\n");
}

absl::StatusOr<std::string> BuildOf(const FlashInferSolution& solution, absl::string_view script,
                                    bool with_cuda) {
  if (!EndsWithAny(solution.entry_file, kCudaEndings) &&
      !EndsWithAny(solution.entry_file, kCppEndings)) {
    return absl::InvalidArgumentError(
        absl::StrCat("its entry file '", solution.entry_file, "' is not a C++ or CUDA file"));
  }
  std::vector<absl::string_view> all(std::begin(kCudaEndings), std::end(kCudaEndings));
  all.insert(all.end(), std::begin(kCppEndings), std::end(kCppEndings));
  return absl::StrReplaceAll(script, {{"@PACKAGE@", kSolutionFolder},
                                      {"@SYMBOL@", solution.entry_symbol},
                                      {"@SOURCES@", ListOf(solution, all)},
                                      {"@CUDA_SOURCES@", ListOf(solution, kCudaEndings)},
                                      {"@CPP_SOURCES@", ListOf(solution, kCppEndings)},
                                      {"@WITH_CUDA@", with_cuda ? "True" : "False"}});
}

absl::StatusOr<std::string> TorchOf(const FlashInferSolution& solution) {
  return BuildOf(solution, TorchSolutionScript(), solution.language == "cuda");
}

absl::StatusOr<std::string> TvmFfiOf(const FlashInferSolution& solution) {
  // Upstream links CUDA's libraries if there is a CUDA file, or the solution names CUDA as target.
  const bool with_cuda =
      !ListOf(solution, kCudaEndings).empty() ||
      std::any_of(solution.target_hardware.begin(), solution.target_hardware.end(),
                  [](const std::string& target) { return absl::EqualsIgnoreCase(target, "cuda"); });
  return BuildOf(solution, TvmFfiSolutionScript(), with_cuda);
}

// The kinds that upstream has a builder for.
struct Kind {
  absl::string_view language;
  absl::string_view binding;
  absl::string_view package;  // needed besides torch; empty: none
  bool needs_gpu = false;
  absl::StatusOr<std::string> (*load)(const FlashInferSolution& solution);
};
constexpr char kTorch[] = "torch";
constexpr char kTvmFfi[] = "tvm-ffi";
constexpr Kind kKinds[] = {
    {"python", "", "", false, ImportOf},          {"triton", "", "triton", true, ImportOf},
    {"tilelang", "", "tilelang", true, ImportOf}, {"cpp", kTorch, "", false, TorchOf},
    {"cpp", kTvmFfi, "tvm-ffi", false, TvmFfiOf}, {"cuda", kTorch, "", true, TorchOf},
    {"cuda", kTvmFfi, "tvm-ffi", true, TvmFfiOf},
};

const Kind& KindOf(const FlashInferSolution& solution) {
  const std::string binding = solution.binding.empty() ? kTvmFfi : solution.binding;
  for (const Kind& kind : kKinds) {
    // Upstream ignores the binding for a kind without bindings.
    if (kind.language == solution.language && (kind.binding.empty() || kind.binding == binding)) {
      return kind;
    }
  }
  return kKinds[0];  // the parser refuses other languages
}

// "in_q, in_k", and with outputs "out_o" after them: names that are not Python keywords.
std::string ParametersText(const v1::Definition& definition, bool with_outputs) {
  std::vector<std::string> names;
  for (const v1::TensorSpec& input : definition.inputs()) {
    names.push_back(absl::StrCat("in_", input.name()));
  }
  if (with_outputs) {
    for (const v1::TensorSpec& output : definition.outputs()) {
      names.push_back(absl::StrCat("out_", output.name()));
    }
  }
  return absl::StrJoin(names, ", ");
}

// Returns true if upstream takes the solution if it returns its first output alone.
bool MayReturnFewer(const FlashInferSolution& solution, const v1::Definition& definition) {
  return EvaluatorOf(definition).takes_first_output_alone && !solution.destination_passing;
}

// The code of the entry that calls the solution's function.
std::string CallText(const FlashInferSolution& solution, const v1::Definition& definition,
                     const std::string& parameters) {
  const std::string call = absl::StrCat("_solution(", parameters, ")\n");
  if (solution.destination_passing) return absl::StrCat("    ", call);
  if (!MayReturnFewer(solution, definition)) return absl::StrCat("    return ", call);
  return absl::StrCat("    result = ", call,
                      "    count = len(result) if isinstance(result, (tuple, list)) else 1\n",
                      "    if count < ", definition.outputs_size(), ":\n        raise TypeError(\n",
                      "            \"the solution leaves outputs out: upstream judges '",
                      definition.outputs(0).name(), "' alone then, and ksearch \"\n",
                      "            \"all of them, so it has to return ", definition.outputs_size(),
                      " values\"\n        )\n    return result\n");
}

// Refuses a function that cannot be called so while it is loaded: upstream calls that a build
// error.
std::string CheckText(const FlashInferSolution& solution, int arguments) {
  return absl::StrReplaceAll(
      R"py(
import inspect

try:
    _signature = inspect.signature(_solution)
except (TypeError, ValueError):
    _signature = None
if _signature is not None:
    try:
        _signature.bind(*[None] * @COUNT@)
    except TypeError as error:
        raise TypeError(f"@SYMBOL@{_signature} is called with @COUNT@ arguments: {error}") from None
)py",
      {{"@COUNT@", absl::StrCat(arguments)}, {"@SYMBOL@", solution.entry_symbol}});
}

// Returns true if the only file has the task's entry, with the parameters that the solution
// declares.
bool HasTaskEntry(const FlashInferSolution& solution, const v1::Definition& definition) {
  if (!KindOf(solution).binding.empty() || MayReturnFewer(solution, definition) ||
      solution.sources.size() != 1 || solution.entry_symbol != "run" ||
      absl::StrContains(solution.entry_file, "/") ||
      !absl::EndsWith(solution.entry_file, kPython)) {
    return false;
  }
  const std::optional<PythonParameters> parameters =
      ParametersOf(solution.sources[0].content(), solution.entry_symbol);
  const int expected =
      definition.inputs_size() + (solution.destination_passing ? definition.outputs_size() : 0);
  return parameters.has_value() && parameters->plain && parameters->count == expected;
}

// Reports what workers would refuse in the files as a fault of the solution.
absl::Status CheckFiles(const FlashInferSolution& solution) {
  for (const v1::SourceFile& file : solution.sources) {
    for (const char c : file.path()) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '/' &&
          c != '-') {
        return absl::InvalidArgumentError(
            absl::StrCat("the name of its file '", file.path(),
                         "' holds a character other than letters, digits and _ . / -"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string BindingOf(const FlashInferSolution& solution) {
  return std::string(KindOf(solution).binding);
}

std::vector<std::string> PackagesFor(const FlashInferSolution& solution) {
  const Kind& kind = KindOf(solution);
  if (kind.package.empty()) return {};
  return {std::string(kind.package)};
}

absl::StatusOr<v1::Sources> ProgramOfSolution(const FlashInferSolution& solution,
                                              const v1::Definition& definition,
                                              v1::DeviceClass device) {
  if (solution.definition != definition.name()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "it is for the definition '", solution.definition, "', not '", definition.name(), "'"));
  }
  const Kind& kind = KindOf(solution);
  if (kind.needs_gpu && device != v1::DEVICE_CLASS_CUDA) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is in ", solution.language, ", and the task is timed on processors"));
  }
  if (!IsIdentifier(solution.entry_symbol)) {
    return absl::InvalidArgumentError(
        absl::StrCat("its function '", solution.entry_symbol, "' cannot be one of Python"));
  }
  RETURN_IF_ERROR(CheckFiles(solution));
  v1::Sources program;
  program.set_language(ProblemLanguage().id);
  if (HasTaskEntry(solution, definition)) {
    *program.add_files() = solution.sources[0];
    return program;
  }
  ASSIGN_OR_RETURN(const std::string load, kind.load(solution));
  const std::string parameters = ParametersText(definition, solution.destination_passing);
  const int arguments =
      definition.inputs_size() + (solution.destination_passing ? definition.outputs_size() : 0);
  // Building takes longer than loading a program may: it is done in the first call.
  const absl::string_view first_call = kind.binding.empty() ? ""
                                                            : "    global _solution\n"
                                                              "    if _solution is None:\n"
                                                              "        _solution = _load()\n";
  v1::SourceFile* const main = program.add_files();
  main->set_path(std::string(ProblemLanguage().main_path));
  main->set_content(absl::StrCat(
      "# Made by ksearch: the task's entry around the function of a solution, whose files lie\n"
      "# unchanged in ",
      kSolutionFolder, ".\n", load,
      kind.binding.empty() ? CheckText(solution, arguments) : "\n\n_solution = None\n",
      "\n\ndef run(", parameters, "):\n", first_call, CallText(solution, definition, parameters)));
  for (const v1::SourceFile& file : solution.sources) {
    v1::SourceFile* const added = program.add_files();
    added->set_path(absl::StrCat(kSolutionFolder, "/", file.path()));
    added->set_content(file.content());
  }
  return program;
}

}  // namespace ksearch
