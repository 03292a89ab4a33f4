// Texts of prompts about failures of Python programs.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/kernel_header.h"
#include "coordinator/proposer/language/python_text.h"

namespace ksearch {
namespace {

// "y is torch.float32 (rows, cols)".
std::string OutputShapes(const v1::Definition& definition) {
  std::vector<std::string> outputs;
  for (const v1::TensorSpec& tensor : definition.outputs()) {
    outputs.push_back(absl::StrCat(tensor.name(), " is torch.", DTypeName(tensor.dtype()), " [",
                                   absl::StrJoin(tensor.shape(), ", "), "]"));
  }
  return absl::StrJoin(outputs, ", ");
}

std::string AfterTypeError(const v1::Definition& definition) {
  return absl::StrCat("It is called by position as `", WritingEntry(definition),
                      "` or, if it takes the inputs "
                      "alone, as `",
                      ReturningEntry(definition),
                      "`. A returned output must be a tensor of exactly its shape and dtype: ",
                      OutputShapes(definition), ".\n");
}

std::string AfterRuntimeError(const v1::Definition& definition) {
  return absl::StrCat(
      "torch raises RuntimeError for shapes that do not fit each other, for a dtype that an "
      "operation or its out= does not take, and where a tensor over memory that is not torch's "
      "would have to grow. Go through the shapes and dtypes up to that line: ",
      OutputShapes(definition), ".\n");
}

constexpr absl::string_view kAfterRefusal =
    "The sandbox refuses files that are opened for writing, processes, sockets and compilers.\n";
constexpr absl::string_view kAfterNotCompiled =
    "A measured call wanted to compile something that the one call before measuring, for the same "
    "workload, did not: something that is compiled depends on the contents of inputs, on which "
    "call "
    "it is, or on time. Make constexpr values, the choice of kernel and what is autotuned depend "
    "on "
    "shapes and dtypes alone.\n";
constexpr absl::string_view kAfterMissingModule =
    "Only torch, what belongs to it and the standard library can be counted on.\n";
constexpr absl::string_view kAfterMissingName =
    "The installed torch may be older than that name: use an operation that has been in torch for "
    "years.\n";

}  // namespace

absl::string_view PythonText::Outcome(v1::Outcome outcome) const {
  switch (outcome) {
    case v1::OUTCOME_COMPILE_ERROR:
      return "is not valid Python, or a kernel of it does not compile";
    case v1::OUTCOME_LOAD_ERROR:
      return "could not be imported: an exception was raised while it was loaded, or it defines no "
             "function `run`";
    case v1::OUTCOME_RUNTIME_ERROR:
      return "raised an exception in a call, or left the process; of an exception only its kind "
             "and its line are shown";
    default:
      return "";
  }
}

std::string PythonText::Advice(const v1::Definition& definition,
                               const v1::JobResult& result) const {
  const auto says = [&](absl::string_view words) {
    return absl::StrContains(result.message(), words);
  };
  if (result.outcome() == v1::OUTCOME_RUNTIME_ERROR) {
    if (says("raised TypeError") || says("the program returned ")) {
      return AfterTypeError(definition);
    }
    if (says("raised RuntimeError")) return AfterRuntimeError(definition);
    if (says("raised NotCompiledError")) return std::string(kAfterNotCompiled);
    if (says("raised AttributeError")) return std::string(kAfterMissingName);
    if (says("raised OSError") || says("raised PermissionError") ||
        says("raised FileNotFoundError")) {
      return std::string(kAfterRefusal);
    }
  }
  if (result.outcome() == v1::OUTCOME_LOAD_ERROR) {
    if (says("No module named")) return std::string(kAfterMissingModule);
    if (says("AttributeError: module 'torch")) return std::string(kAfterMissingName);
    if (says("Function not implemented") || says("Operation not permitted")) {
      return std::string(kAfterRefusal);
    }
  }
  return "";
}

}  // namespace ksearch
