#include "cli/task/torch_task_folder.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/tasks/definition_json.h"
#include "coordinator/tasks/task_folder.h"
#include "coordinator/tasks/workload_line.h"

namespace ksearch {
namespace {

constexpr char kReferenceFile[] = "reference.py";
constexpr char kBaselineFile[] = "baseline.py";

bool IsFloating(const v1::TensorSpec& tensor) {
  return !tensor.scalar() && absl::StrContains(DTypeName(tensor.dtype()), "float");
}

std::string Names(const google::protobuf::RepeatedPtrField<v1::TensorSpec>& tensors) {
  return absl::StrJoin(tensors, ", ", [](std::string* out, const v1::TensorSpec& tensor) {
    absl::StrAppend(out, tensor.name());
  });
}

// "x=x, eps=eps"; floating tensors followed by `suffix`.
std::string CallArguments(const v1::Definition& definition, absl::string_view suffix) {
  return absl::StrJoin(
      definition.inputs(), ", ", [&](std::string* out, const v1::TensorSpec& input) {
        absl::StrAppend(out, input.name(), "=", input.name(), IsFloating(input) ? suffix : "");
      });
}

// The user's text and two blank lines.
std::string TextBefore(absl::string_view user_text) {
  while (absl::EndsWith(user_text, "\n")) user_text.remove_suffix(1);
  return absl::StrCat(user_text, "\n\n\n");
}

std::vector<std::pair<std::string, std::string>> FilesOf(const TracedTask& task,
                                                         absl::string_view user_text) {
  // If the baseline is a word such as "torch", the unchanged function is the reference, too.
  const bool by_words = !task.settings.baseline().empty();
  v1::Definition definition = task.definition;
  definition.set_reference_text(by_words ? BaselineText(task, user_text)
                                         : ReferenceText(task, user_text));
  std::string workloads;
  for (const v1::Workload& workload : task.workloads) {
    absl::StrAppend(&workloads, WorkloadToJsonLine(definition.name(), workload), "\n");
  }
  std::vector<std::pair<std::string, std::string>> files = {
      {kDefinitionFile, DefinitionToJson(definition)},
      {kWorkloadsFile, workloads},
      {kSettingsFile, absl::StrCat("# proto-file: proto/task.proto\n"
                                   "# proto-message: ksearch.v1.TaskSettings\n",
                                   ToTextproto(task.settings))},
      {kReferenceFile, definition.reference_text()}};
  if (!by_words) files.emplace_back(kBaselineFile, BaselineText(task, user_text));
  return files;
}

}  // namespace

std::string BaselineText(const TracedTask& task, absl::string_view user_text) {
  if (task.is_program) return std::string(user_text);
  return absl::StrCat(TextBefore(user_text), "# What ksearch calls: the function as it is.\n",
                      "_ksearch_function = ", task.function, "\n\n\ndef run(",
                      Names(task.definition.inputs()), "):\n    return _ksearch_function(",
                      CallArguments(task.definition, ""), ")\n");
}

std::string ReferenceText(const TracedTask& task, absl::string_view user_text) {
  const auto& outputs = task.definition.outputs();
  const bool one = outputs.size() == 1;
  const std::string results = absl::StrCat(Names(outputs), one && task.returns_tuple ? "," : "");
  const std::string cast =
      absl::StrJoin(outputs, ", ", [](std::string* out, const v1::TensorSpec& tensor) {
        absl::StrAppend(out, tensor.name(), ".to(_ksearch_torch.", DTypeName(tensor.dtype()), ")");
      });
  return absl::StrCat(
      TextBefore(user_text),
      "# What ksearch calls: the function in float64, its results in the task's dtypes.\n"
      "import torch as _ksearch_torch\n\n_ksearch_function = ",
      task.function, "\n\n\ndef run(", Names(task.definition.inputs()), "):\n    ", results,
      " = _ksearch_function(", CallArguments(task.definition, ".double()"), ")\n    return ", cast,
      "\n");
}

absl::Status WriteTorchTaskFolder(const TracedTask& task, absl::string_view user_text,
                                  const std::string& output) {
  namespace fs = std::filesystem;
  const std::string folder = absl::StrCat(output, "/", task.definition.name());
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    return absl::AlreadyExistsError(
        absl::StrCat(folder, " exists; choose another name, or another --output"));
  }
  fs::create_directories(output, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("create folder ", output));
  std::string scratch = absl::StrCat(output, "/.task-XXXXXX");
  if (::mkdtemp(scratch.data()) == nullptr) {
    return ErrnoStatus(errno, absl::StrCat("create a folder in ", output));
  }
  const auto remove = absl::MakeCleanup([&scratch] {
    std::error_code ignored;
    fs::remove_all(scratch, ignored);
  });
  const std::string made = absl::StrCat(scratch, "/", task.definition.name());
  fs::create_directory(made, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("create folder ", made));
  for (const auto& [name, content] : FilesOf(task, user_text)) {
    RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(made, "/", name), content));
  }
  const absl::Status usable = LoadTaskFolder(made).status();
  if (!usable.ok()) {
    return absl::Status(usable.code(),
                        absl::StrCat("this function makes no task that could be used: ",
                                     absl::StrReplaceAll(usable.message(), {{made, folder}})));
  }
  fs::rename(made, folder, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("create folder ", folder));
  return absl::OkStatus();
}

}  // namespace ksearch
