#include "coordinator/suites/flashinfer/native_solution.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/kernel_header.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "coordinator/suites/callable_program.h"
#include "coordinator/suites/python/module_scripts.h"

namespace ksearch {
namespace {

constexpr char kBindingFile[] = "ksearch_binding.cpp";
constexpr char kFunction[] = "run";
// torch disables arithmetic of these types in CUDA files; ksearch builds them with it enabled.
constexpr absl::string_view kTakenAway[] = {"HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS",
                                            "BFLOAT16_CONVERSIONS"};

bool HasCuda(const v1::Sources& program) {
  const LanguageFacts* const language = FindLanguage(program.language());
  return language != nullptr && language->toolkit == Toolkit::kNvcc;
}

void AddFile(absl::string_view path, absl::string_view content, NativeSolution* solution) {
  v1::SourceFile& file = solution->files.emplace_back();
  file.set_path(std::string(path));
  file.set_content(std::string(content));
}

// Each axis as a C++ expression: a number, or an extent of a tensor.
absl::StatusOr<std::string> AxesText(const v1::Definition& definition) {
  std::map<std::string, std::string> extents;
  for (const auto* group : {&definition.inputs(), &definition.outputs()}) {
    for (const v1::TensorSpec& tensor : *group) {
      for (int k = 0; k < tensor.shape_size(); ++k) {
        extents.emplace(tensor.shape(k), absl::StrCat(tensor.name(), "_.size(", k, ")"));
      }
    }
  }
  std::string text;
  for (const v1::Axis& axis : definition.axes()) {
    const auto found = extents.find(axis.name());
    if (!axis.has_const_value() && found == extents.end()) {
      return absl::InvalidArgumentError(absl::StrCat("no tensor of ", definition.name(),
                                                     " has the extent '", axis.name(),
                                                     "', so a solution could not tell it"));
    }
    absl::StrAppend(&text, "  args.", axis.name(), " = ",
                    axis.has_const_value() ? absl::StrCat(axis.const_value()) : found->second,
                    ";\n");
  }
  return text;
}

bool IsFloating(v1::DType dtype) {
  return absl::StartsWith(DTypeName(dtype), "float") ||
         absl::StartsWith(DTypeName(dtype), "bfloat");
}

absl::StatusOr<std::string> BindingText(const v1::Definition& definition, bool cuda,
                                        bool asks_scratch) {
  ASSIGN_OR_RETURN(const std::string axes, AxesText(definition));
  std::vector<std::string> parameters;
  std::string arguments, first_tensor;
  for (const auto* group : {&definition.inputs(), &definition.outputs()}) {
    for (const v1::TensorSpec& tensor : *group) {
      const std::string name = absl::StrCat(tensor.name(), "_");
      if (tensor.scalar()) {
        parameters.push_back(
            absl::StrCat(IsFloating(tensor.dtype()) ? "double " : "int64_t ", name));
        absl::StrAppend(&arguments, "  args.", tensor.name(), " = ", name, ";\n");
        continue;
      }
      if (first_tensor.empty()) first_tensor = name;
      parameters.push_back(absl::StrCat("const at::Tensor& ", name));
      absl::StrAppend(&arguments, "  TORCH_CHECK(", name, ".is_contiguous(), \"", tensor.name(),
                      " must be contiguous\");\n  args.", tensor.name(),
                      " = static_cast<decltype(args.", tensor.name(), ")>(", name,
                      ".data_ptr());\n");
    }
  }
  std::string text = absl::StrCat(
      "// Made by ksearch: its task's entry, ksearch_run, as a function of torch's tensors.\n"
      "#include <torch/extension.h>\n\n",
      cuda ? "#include <c10/cuda/CUDAGuard.h>\n#include <c10/cuda/CUDAStream.h>\n\n" : "",
      "#include <cstdint>\n\n#include \"", kKernelHeaderName, "\"\n\n",
      asks_scratch ? absl::StrCat(kWeakWorkspace, "\n") : "", "namespace {\n\nvoid Call(",
      absl::StrJoin(parameters, ", "), ") {\n",
      cuda ? absl::StrCat("  const c10::cuda::CUDAGuard guard(", first_tensor, ".device());\n")
           : "",
      "  KsearchArgs args = {};\n", axes, arguments);
  if (asks_scratch) {
    absl::StrAppend(&text, "  at::Tensor scratch;\n  const int64_t bytes = ", kWorkspaceSymbol,
                    " == nullptr ? 0 : ", kWorkspaceSymbol,
                    "(&args);\n  if (bytes > 0) {\n    scratch = at::empty({bytes}, ", first_tensor,
                    ".options().dtype(at::kByte));\n"
                    "    args.workspace = scratch.data_ptr();\n"
                    "    args.workspace_bytes = bytes;\n  }\n");
  }
  absl::StrAppend(&text, "  const int code = ", kEntrySymbol, "(&args",
                  cuda ? ", c10::cuda::getCurrentCUDAStream().stream()" : "", ");\n",
                  "  TORCH_CHECK(code == 0, \"", kEntrySymbol, " returned \", code);\n}\n\n",
                  "}  // namespace\n\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"",
                  kFunction, "\", &Call); }\n");
  return text;
}

}  // namespace

absl::StatusOr<NativeSolution> BindToTorch(const v1::Definition& definition,
                                           const v1::Sources& program) {
  const LanguageFacts* const language = FindLanguage(program.language());
  if (language == nullptr ||
      (language->toolkit != Toolkit::kGxx && language->toolkit != Toolkit::kNvcc)) {
    return absl::InvalidArgumentError("the program is neither in C++ nor in CUDA");
  }
  const bool cuda = HasCuda(program);
  NativeSolution solution;
  bool asks_scratch = false, has_cuda_header = false;
  for (const v1::SourceFile& file : program.files()) {
    if (file.path() == kBindingFile) {
      return absl::InvalidArgumentError(absl::StrCat("a file of the program is called ",
                                                     kBindingFile, ", as that of the binding"));
    }
    asks_scratch |= absl::StrContains(file.content(), kWorkspaceSymbol);
    has_cuda_header |= absl::StrContains(file.content(), kCudaHeaderName);
    std::string content = file.content();
    if (cuda && LanguageOfPath(file.path()) == language->id) {
      std::string given_back;
      for (const absl::string_view what : kTakenAway) {
        absl::StrAppend(&given_back, "#undef __CUDA_NO_", what, "__\n");
      }
      content =
          absl::StrCat("// Added by ksearch: what it built the file with.\n", given_back, content);
    }
    AddFile(file.path(), content, &solution);
  }
  ASSIGN_OR_RETURN(const std::string header,
                   KernelHeader(definition, cuda ? v1::DEVICE_CLASS_CUDA : v1::DEVICE_CLASS_CPU));
  AddFile(kKernelHeaderName, header, &solution);
  if (has_cuda_header) AddFile(kCudaHeaderName, CudaHeaderText(), &solution);
  ASSIGN_OR_RETURN(const std::string binding, BindingText(definition, cuda, asks_scratch));
  AddFile(kBindingFile, binding, &solution);
  solution.entry_point = absl::StrCat(kBindingFile, "::", kFunction);
  return solution;
}

}  // namespace ksearch
