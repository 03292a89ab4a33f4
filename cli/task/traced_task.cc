#include "cli/task/traced_task.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "coordinator/tasks/definition_json.h"
#include "coordinator/tasks/located_json.h"
#include "coordinator/tasks/workload_jsonl.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

constexpr char kScript[] = "trace_task";
constexpr absl::Duration kTraceTime = absl::Minutes(10);
constexpr int64_t kMaxTextBytes = 64 << 10;
constexpr rlim_t kMostFileBytes = 64 << 20;

absl::StatusOr<double> Number(const JsonFields& fields, const LocatedJson& object,
                              absl::string_view name) {
  const LocatedJson* const value = object.Find(name);
  if (value == nullptr) return 0;
  if (value->kind == Kind::kInteger) return static_cast<double>(value->integer);
  if (value->kind == Kind::kFloat && std::isfinite(value->number)) return value->number;
  return fields.Error(name, "must be a number");
}

absl::Status ParseSettings(const LocatedJson& json, v1::TaskSettings* settings) {
  const JsonFields fields(kScript, json, "");
  ASSIGN_OR_RETURN(*settings->mutable_title(), fields.RequiredText("title", kMaxTextBytes));
  ASSIGN_OR_RETURN(*settings->mutable_notes(), fields.RequiredText("notes", kMaxTextBytes));
  ASSIGN_OR_RETURN(const std::vector<std::string> held_out, fields.OptionalTexts("held_out"));
  settings->mutable_held_out()->Assign(held_out.begin(), held_out.end());

  ASSIGN_OR_RETURN(const LocatedJson* tolerance, fields.Required("tolerance", Kind::kObject));
  const JsonFields limits(kScript, *tolerance, "tolerance");
  v1::Tolerance* const out = settings->mutable_tolerance();
  ASSIGN_OR_RETURN(const double atol, Number(limits, *tolerance, "atol"));
  ASSIGN_OR_RETURN(const double rtol, Number(limits, *tolerance, "rtol"));
  ASSIGN_OR_RETURN(const double ratio, Number(limits, *tolerance, "max_rms_error_ratio"));
  ASSIGN_OR_RETURN(const double yardstick, Number(limits, *tolerance, "rms_yardstick"));
  out->set_atol(atol);
  out->set_rtol(rtol);
  out->set_max_rms_error_ratio(ratio);
  out->set_rms_yardstick(yardstick);

  ASSIGN_OR_RETURN(const LocatedJson* work, fields.Required("work", Kind::kObject));
  const JsonFields formulas(kScript, *work, "work");
  ASSIGN_OR_RETURN(*settings->mutable_work()->mutable_bytes(),
                   formulas.OptionalText("bytes", kMaxTextBytes));
  ASSIGN_OR_RETURN(*settings->mutable_work()->mutable_flops(),
                   formulas.OptionalText("flops", kMaxTextBytes));
  return absl::OkStatus();
}

absl::StatusOr<bool> Flag(const JsonFields& fields, absl::string_view name) {
  ASSIGN_OR_RETURN(const LocatedJson* value, fields.Required(name, Kind::kBool));
  return value->boolean;
}

// Inherits only the variables that an interpreter and torch use.
std::map<std::string, std::string> Environment() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"HOME", "PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "TMPDIR", "LANG"}) {
    if (const char* const value = std::getenv(name); value != nullptr) environment[name] = value;
  }
  return environment;
}

rlim_t MachineMemory() {
  return static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// The last lines of the interpreter's output, for a message.
std::string LastLines(absl::string_view text) {
  constexpr size_t kMostBytes = 1000;
  text = absl::StripAsciiWhitespace(text);
  if (text.size() > kMostBytes) text.remove_prefix(text.size() - kMostBytes);
  return std::string(text);
}

}  // namespace

absl::StatusOr<TracedTask> ParseTrace(absl::string_view text) {
  ASSIGN_OR_RETURN(const LocatedJson json, ParseLocatedJson(text, kScript));
  const JsonFields fields(kScript, json, "");
  RETURN_IF_ERROR(fields.CheckObject());
  ASSIGN_OR_RETURN(const std::string error, fields.OptionalText("error", kMaxTextBytes));
  if (!error.empty()) return absl::InvalidArgumentError(error);

  TracedTask task;
  ASSIGN_OR_RETURN(task.function, fields.RequiredText("function", kMaxTextBytes));
  if (!IsIdentifier(task.function)) {
    return absl::InvalidArgumentError(absl::StrCat("the function's name '",
                                                   task.function.substr(0, 100),
                                                   "' must be of letters, digits and '_'"));
  }
  ASSIGN_OR_RETURN(task.is_program, Flag(fields, "is_program"));
  ASSIGN_OR_RETURN(task.returns_tuple, Flag(fields, "returns_tuple"));
  ASSIGN_OR_RETURN(task.assumed, fields.OptionalTexts("assumed"));
  RETURN_IF_ERROR(ParseSettings(json, &task.settings));
  ASSIGN_OR_RETURN(const LocatedJson* definition, fields.Required("definition", Kind::kObject));
  ASSIGN_OR_RETURN(task.definition, ParseDefinitionJson(WriteJson(*definition, 2), "definition"));
  ASSIGN_OR_RETURN(const LocatedJson* workloads, fields.Required("workloads", Kind::kArray));
  std::string lines;
  for (const LocatedJson& workload : workloads->items) {
    absl::StrAppend(&lines, WriteJson(workload, -1), "\n");
  }
  ASSIGN_OR_RETURN(task.workloads, ParseWorkloadJsonl(lines, "workloads", task.definition));
  return task;
}

absl::Status CheckAnswers(const TraceRequest& request, const TracedTask& task) {
  if (task.definition.name() != request.name) {
    return absl::InvalidArgumentError(absl::StrCat(request.file, ": the description is of a task '",
                                                   task.definition.name(), "', not of '",
                                                   request.name, "' as was asked for"));
  }
  if (!request.function.empty() && task.function != request.function) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.file, ": the description is of the function '", task.function,
                     "', not of '", request.function, "' as was asked for"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FindInterpreter(const std::string& given) {
  if (!given.empty()) {
    const absl::StatusOr<std::string> program = FindOnPath(given);
    return program.ok() ? program : Annotate(program.status(), "--interpreter");
  }
  if (const char* const environment = std::getenv("VIRTUAL_ENV"); environment != nullptr) {
    const std::string path = absl::StrCat(environment, "/bin/python3");
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  const absl::StatusOr<std::string> found = FindOnPath("python3");
  if (found.ok()) return found;
  return absl::NotFoundError("there is no python3 on PATH: name one with --interpreter");
}

absl::StatusOr<TracedTask> TraceTask(const TraceRequest& request) {
  const std::string script = absl::StrCat(BinaryFolder(), "/", kScript);
  if (::access(absl::StrCat(script, "/__main__.py").c_str(), R_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(script, " is missing; it belongs beside ksearch"));
  }
  SubprocessOptions options;
  options.argv = {request.interpreter, "-I",         "-B", script, request.name, request.file,
                  request.function,    request.dtype};
  for (const AxisValues& shape : request.shapes) options.argv.push_back(ShapeText(shape));
  options.environment = Environment();
  options.limits = {
      {RLIMIT_CORE, 0}, {RLIMIT_FSIZE, kMostFileBytes}, {RLIMIT_DATA, MachineMemory()}};
  ASSIGN_OR_RETURN(const CommandOutput output,
                   RunCommand(std::move(options), kTraceTime, kMostTraceBytes));
  if (output.timed_out) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.file, ": calls at these --shapes did not end within ",
                     absl::FormatDuration(kTraceTime), "; give smaller ones"));
  }
  if (output.exit.signaled || output.exit.code != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.interpreter, " ended with ", output.exit.signaled ? "signal " : "code ",
        output.exit.code, " while it called the function: ", LastLines(output.err)));
  }
  if (output.out_truncated) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.file, ": the task's description is longer than ", kMostTraceBytes, " bytes"));
  }
  if (output.out.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.file, ": ", request.interpreter,
                     " ended without an answer; does the file end it?"));
  }
  ASSIGN_OR_RETURN(TracedTask task, ParseTrace(output.out));
  RETURN_IF_ERROR(CheckAnswers(request, task));
  return task;
}

}  // namespace ksearch
