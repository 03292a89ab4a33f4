#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands.h"
#include "cli/evaluation.h"
#include "cli/json_output.h"
#include "cli/local/environment.h"
#include "cli/local/local_folder.h"
#include "cli/task/task_check.h"
#include "cli/task/torch_task_folder.h"
#include "cli/task/traced_task.h"
#include "cli/text.h"
#include "common/kernel_header.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/tasks/task_folder.h"

namespace ksearch {
namespace {

// "x[n, d] float32, eps float32".
std::string TensorsText(const google::protobuf::RepeatedPtrField<v1::TensorSpec>& tensors) {
  return absl::StrJoin(tensors, ", ", [](std::string* out, const v1::TensorSpec& tensor) {
    absl::StrAppend(out, tensor.name());
    if (!tensor.scalar()) absl::StrAppend(out, "[", absl::StrJoin(tensor.shape(), ", "), "]");
    absl::StrAppend(out, " ", DTypeName(tensor.dtype()));
  });
}

// The folder in which the task's folder is created.
absl::StatusOr<std::string> OutputFolder(const Options& options) {
  if (!options.task_output.empty()) return options.task_output;
  if (!options.local) return std::string(".");
  const bool as_root = ::geteuid() == 0;
  ASSIGN_OR_RETURN(const std::string path,
                   LocalFolder::PathFrom(options.local_dir, CurrentEnvironment(), as_root));
  ASSIGN_OR_RETURN(const LocalFolder folder, LocalFolder::Open(path, as_root));
  return folder.tasks();
}

// `local`: the local coordinator finds the task by itself.
std::string MadeText(const TracedTask& task, const std::string& folder, const std::string& output,
                     bool local) {
  std::string text = absl::StrCat(
      "made ", folder, "\n  ", task.function, ": ", TensorsText(task.definition.inputs()), " -> ",
      TensorsText(task.definition.outputs()), "\n  ", task.workloads.size(), " workloads, ",
      task.settings.held_out_size(), " of them held out\n");
  absl::StrAppend(&text, "assumptions; where one is wrong, correct the folder's files:\n");
  for (const std::string& line : task.assumed) absl::StrAppend(&text, "  ", line, "\n");
  if (local) {
    absl::StrAppend(&text, "next: ksearch task check --local ", task.definition.name(), "\n");
    return text;
  }
  const bool on_gpu = task.settings.device() == v1::DEVICE_CLASS_CUDA;
  absl::StrAppend(&text, "next: ksearch-coordinator --task-dir ", output,
                  ", a worker with a Python toolchain", on_gpu ? " and a GPU" : "",
                  ",\n  then ksearch task check ", task.definition.name(),
                  "\n  (with --local in place of --output, the local coordinator finds it)\n");
  return text;
}

// Creates the task's folder below `output`.
absl::Status MakeTask(const Options& options, const std::string& output, TracedTask* task) {
  TraceRequest request;
  request.name = options.task;
  request.dtype = options.dtype;
  request.file = options.from_torch;
  if (const size_t colon = options.from_torch.rfind(':');
      colon != std::string::npos && !absl::EndsWith(options.from_torch, ".py")) {
    request.file = options.from_torch.substr(0, colon);
    request.function = options.from_torch.substr(colon + 1);
    if (request.function.empty()) {
      return absl::InvalidArgumentError(
          "--from-torch: the name of the function is missing after ':'");
    }
    if (!IsIdentifier(request.function)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--from-torch: '", request.function,
                       "' after ':' cannot name a function: use letters, digits and '_'"));
    }
  }
  if (!absl::EndsWith(request.file, ".py")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--from-torch: '", request.file,
                     "' must name a Python file, as FILE.py or FILE.py:FUNCTION"));
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(request.file, kMaxTaskSourceBytes));
  ASSIGN_OR_RETURN(request.shapes, ParseShapes(options.shapes));
  const std::string folder = absl::StrCat(output, "/", options.task);
  if (::access(folder.c_str(), F_OK) == 0) {
    return absl::AlreadyExistsError(
        absl::StrCat(folder, " exists; choose another name, or another --output"));
  }
  ASSIGN_OR_RETURN(request.interpreter, FindInterpreter(options.interpreter));
  ASSIGN_OR_RETURN(*task, TraceTask(request));
  if (!options.baseline.empty()) {
    task->settings.set_baseline(options.baseline);
    task->settings.set_reference_precision("float64");
  }
  const bool on_gpu = options.device == "cuda";
  task->settings.set_device(on_gpu ? v1::DEVICE_CLASS_CUDA : v1::DEVICE_CLASS_CPU);
  if (on_gpu) {
    task->assumed.push_back(
        "the function was called on processors here: tensors that it makes itself, it makes on its "
        "inputs' device (device=x.device)");
  }
  return WriteTorchTaskFolder(*task, text, output);
}

int NewCommand(const Options& options) {
  const auto given = OutputFolder(options);
  if (!given.ok()) return Fail(given.status());
  TracedTask task;
  const absl::Status made = MakeTask(options, *given, &task);
  if (!made.ok()) return Fail(made);
  std::error_code error;
  const std::string output = std::filesystem::canonical(*given, error).string();
  if (error) return Fail(ErrnoStatus(error.value(), absl::StrCat("folder ", *given)));
  const std::string folder = absl::StrCat(output, "/", options.task);
  if (options.json) {
    return PrintJson({{"task", options.task},
                      {"folder", folder},
                      {"assumed", absl::StrJoin(task.assumed, "\n")}});
  }
  std::fputs(MadeText(task, folder, output, options.local).c_str(), stdout);
  return kExitOk;
}

// Those that are named, or of the suite that is named those that cannot be used so far.
absl::StatusOr<std::vector<std::string>> ProblemsToDescribe(Client* client,
                                                            const Options& options) {
  if (options.suite.empty()) {
    if (!options.tasks.empty()) return options.tasks;
    return absl::InvalidArgumentError("name the tasks, or give --suite NAME for all of a suite");
  }
  if (!options.tasks.empty()) {
    return absl::InvalidArgumentError("--suite: describes all of a suite; name no tasks as well");
  }
  ASSIGN_OR_RETURN(const v1::ListTasksReply reply,
                   (client->Call<v1::ListTasksRequest, v1::ListTasksReply>(
                       &v1::SearchService::Stub::ListTasks, v1::ListTasksRequest())));
  bool any = false;
  std::vector<std::string> problems;
  for (const v1::TaskSummary& task : reply.tasks()) {
    if (task.suite() != options.suite) continue;
    any = true;
    // Two problems of one name are neighbors, and one of them says so for both.
    if (!task.error().empty() && (problems.empty() || problems.back() != task.name())) {
      problems.push_back(task.name());
    }
  }
  if (any) return problems;
  return absl::NotFoundError(
      absl::StrCat("--suite: the coordinator has no suite '", options.suite, "' with a task"));
}

// Returns the first failure's exit code; the remaining problems are described nevertheless, unless
// there is nobody to do it.
int DescribeCommand(Client* client, const Options& options) {
  const auto problems = ProblemsToDescribe(client, options);
  if (!problems.ok()) return Fail(problems.status());
  int code = kExitOk;
  std::map<std::string, std::string> verdicts;
  std::string last_failure;
  for (const std::string& task : *problems) {
    v1::EvaluateRequest request;
    request.set_task(task);
    request.set_kind(v1::JOB_KIND_DESCRIBE);
    const absl::StatusOr<v1::JobResult> result = Evaluate(client, request, task + ": ");
    int ended = kExitOk;
    if (!result.ok()) {
      ended = Fail(result.status());
      verdicts[task] = std::string(result.status().message());
    } else if (result->outcome() != v1::OUTCOME_PASSED) {
      ended = kExitConfig;
      verdicts[task] = absl::StrCat(OutcomeText(result->outcome()), ": ", result->message());
    } else {
      verdicts[task] = "described";
    }
    if (!options.json && result.ok()) {
      std::printf("%s: %s\n", task.c_str(), verdicts[task].c_str());
      std::fflush(stdout);  // the next problem may take minutes
    }
    if (code == kExitOk) code = ended;
    // Two problems in a row that fail for the same reason, such as a missing worker, are not the
    // cause of it. A fault of a problem is its own, also if its neighbor has the same.
    if (!result.ok() && verdicts[task] == last_failure &&
        result.status().code() != absl::StatusCode::kInvalidArgument) {
      break;
    }
    last_failure = result.ok() ? "" : verdicts[task];
  }
  if (options.json) PrintJson(verdicts);
  return code;
}

int CheckCommand(Client* client, const Options& options) {
  v1::Task task;
  const absl::StatusOr<TaskCheck> check = CheckTask(client, options.task, &task);
  if (!check.ok()) return Fail(check.status());
  if (options.json) {
    std::map<std::string, std::string> fields = {{"task", task.name()},
                                                 {"good", check->good() ? "yes" : "no"}};
    for (const TriedProgram& program : check->programs) fields[program.name] = program.verdict;
    PrintJson(fields);
  } else {
    std::fputs(TaskCheckText(task, *check).c_str(), stdout);
  }
  return check->good() ? kExitOk : kExitNoCandidate;
}

}  // namespace

int TaskCommand(Client* client, const Options& options) {
  if (options.action == "ls") return TasksCommand(client, options);
  if (options.action == "solutions") return SolutionsCommand(client, options);
  if (options.action == "describe") return DescribeCommand(client, options);
  return options.action == "new" ? NewCommand(options) : CheckCommand(client, options);
}

}  // namespace ksearch
