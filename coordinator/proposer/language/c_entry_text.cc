#include "coordinator/proposer/language/c_entry_text.h"

#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"

namespace ksearch {

LanguageWords CWords(absl::string_view planning) {
  return {.scratch =
              "the scratch memory of the call, whose contents are undefined when the call begins",
          .libraries = "call a library that already implements the whole operation, or ",
          .more_files = "headers",
          .planning = planning,
          .measuring = ""};
}

std::string CEntryText(absl::string_view more_arguments) {
  return absl::StrCat("`extern \"C\" int ", kEntrySymbol, "(const KsearchArgs*", more_arguments,
                      ")`");
}

std::string CEntryPointText(absl::string_view more_arguments, const std::string& kernel_header) {
  std::string text = absl::StrCat(
      "Include \"", kKernelHeaderName, "\" (it is provided; do not send it) and define\n\n",
      "extern \"C\" int ", kEntrySymbol, "(const KsearchArgs* args", more_arguments, ");\n\n",
      "which returns 0. If you need scratch memory, also define\n\n", "extern \"C\" int64_t ",
      kWorkspaceSymbol, "(const KsearchArgs* args);\n\n",
      "which returns its size in bytes for the given axes (the pointers are null in that call).\n");
  if (!kernel_header.empty()) absl::StrAppend(&text, "The header reads:\n\n", kernel_header);
  return text;
}

}  // namespace ksearch
