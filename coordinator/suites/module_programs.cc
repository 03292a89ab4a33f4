#include "coordinator/suites/module_programs.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "coordinator/suites/problem_language.h"
#include "coordinator/suites/python/module_scripts.h"

namespace ksearch {
namespace {

void AddFile(absl::string_view path, absl::string_view text, v1::Sources* sources) {
  v1::SourceFile* const file = sources->add_files();
  file->set_path(std::string(path));
  file->set_content(std::string(text));
}

// [("fc.weight", (10, 20)), ...]: paths are letters, digits, '_' and '.'.
std::string PlacesText(const std::vector<DescribedTensor>& tensors) {
  std::string text = "[";
  for (const DescribedTensor& tensor : tensors) {
    absl::StrAppend(&text, "(\"", tensor.path, "\", (");
    for (const int64_t extent : tensor.shape) absl::StrAppend(&text, extent, ", ");
    absl::StrAppend(&text, ")), ");
  }
  return text + "]";
}

}  // namespace

v1::Sources DescribingProgram(absl::string_view problem) {
  v1::Sources sources;
  sources.set_language(ProblemLanguage().id);
  AddFile(ProblemLanguage().main_path, DescribeModuleScript(), &sources);
  AddFile("problem.py", problem, &sources);
  return sources;
}

std::string ProgramOfModule(absl::string_view text, absl::string_view class_name,
                            const ProblemDescription& problem, bool reference) {
  std::vector<std::string> arguments;
  std::string device = "\"cpu\"";
  for (const auto* group : {&problem.inputs, &problem.parameters, &problem.buffers}) {
    for (const DescribedTensor& tensor : *group) {
      if (!tensor.scalar && device[0] == '"') device = absl::StrCat(tensor.name, ".device");
      arguments.push_back(tensor.name);
    }
  }
  return absl::StrCat(text, absl::StrReplaceAll(ModuleEntryScript(),
                                                {{"@CLASS@", class_name},
                                                 {"@INIT@", problem.init},
                                                 {"@PARAMETERS@", PlacesText(problem.parameters)},
                                                 {"@BUFFERS@", PlacesText(problem.buffers)},
                                                 {"@REFERENCE@", reference ? "True" : "False"},
                                                 {"@ARGUMENTS@", absl::StrJoin(arguments, ", ")},
                                                 {"@DEVICE@", device}}));
}

bool IsModuleProgram(absl::string_view text, absl::string_view class_name) {
  bool has_class = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "def run(")) return false;
    if (absl::StartsWith(line, absl::StrCat("class ", class_name, "(")) ||
        absl::StartsWith(line, absl::StrCat("class ", class_name, ":"))) {
      has_class = true;
    }
  }
  return has_class;
}

}  // namespace ksearch
