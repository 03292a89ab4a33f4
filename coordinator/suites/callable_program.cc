#include "coordinator/suites/callable_program.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "coordinator/suites/python/module_scripts.h"

namespace ksearch {
namespace {

// Whether the line includes this header.
bool Includes(absl::string_view line, absl::string_view header) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "#")) return false;
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "include") &&
         absl::StrContains(line, header);
}

// The program's text with its own headers inlined where it includes them.
absl::StatusOr<std::string> InOneFile(const v1::Definition& definition, v1::DeviceClass device,
                                      const std::string& program) {
  ASSIGN_OR_RETURN(const std::string header, KernelHeader(definition, device));
  std::string text;
  bool has_header = false, has_cuda_header = false;
  for (const absl::string_view line : absl::StrSplit(program, '\n')) {
    if (Includes(line, kKernelHeaderName)) {
      if (!has_header) absl::StrAppend(&text, header, "\n");
      has_header = true;
    } else if (Includes(line, kCudaHeaderName)) {
      if (!has_cuda_header) absl::StrAppend(&text, CudaHeaderText(), "\n");
      has_cuda_header = true;
    } else {
      absl::StrAppend(&text, line, "\n");
    }
  }
  // The headers are no longer separate files.
  text = absl::StrReplaceAll(text, {{"#pragma once\n", ""}});
  std::string scratch = "0";
  if (absl::StrContains(program, kWorkspaceSymbol)) {
    absl::StrAppend(&text, "\n", kWeakWorkspace);
    scratch = absl::StrCat(kWorkspaceSymbol, " == nullptr ? 0 : ", kWorkspaceSymbol,
                           "(\n      reinterpret_cast<const KsearchArgs*>(args))");
  }
  absl::StrAppend(&text,
                  "\nint64_t ksearch_inline_call(int64_t args, int64_t stream) {\n"
                  "  return ksearch_run(reinterpret_cast<const KsearchArgs*>(args)",
                  device == v1::DEVICE_CLASS_CUDA ? ", reinterpret_cast<cudaStream_t>(stream)" : "",
                  ");\n}\nint64_t ksearch_inline_scratch(int64_t args) {\n  return ", scratch,
                  ";\n}\n");
  return text;
}

// This text as a Python literal, in readable form if its quotes allow that.
std::string PythonLiteral(const std::string& text) {
  if (absl::StrContains(text, "'''") || absl::EndsWith(text, "\\") || absl::EndsWith(text, "'")) {
    return absl::StrCat("bytes.fromhex(\"", absl::BytesToHexString(text), "\").decode(\"utf-8\")");
  }
  return absl::StrCat("r'''", text, "'''");
}

}  // namespace

absl::StatusOr<std::string> CallableProgram(const v1::Definition& definition,
                                            const v1::Sources& program) {
  if (program.files_size() != 1) {
    return absl::InvalidArgumentError("only programs of one file can be handed on as one");
  }
  const std::string& text = program.files(0).content();
  const LanguageFacts* const language = FindLanguage(program.language());
  if (language == nullptr) return absl::InvalidArgumentError("the program's language is not known");
  if (language->toolkit == Toolkit::kPython) return absl::StrCat(text, PythonProgramScript());
  const bool on_gpu = language->toolkit == Toolkit::kNvcc;
  ASSIGN_OR_RETURN(
      const std::string whole,
      InOneFile(definition, on_gpu ? v1::DEVICE_CLASS_CUDA : v1::DEVICE_CLASS_CPU, text));
  return absl::StrCat(
      "_KSEARCH_SOURCE = ", PythonLiteral(whole), "\n",
      absl::StrReplaceAll(NativeProgramScript(),
                          {{"@ON_GPU@", on_gpu ? "True" : "False"},
                           {"@NAME@", absl::StrCat("ksearch_", Sha256Hex(whole).substr(0, 16))}}));
}

}  // namespace ksearch
