#ifndef KSEARCH_CLI_TASK_TRACED_TASK_H_
#define KSEARCH_CLI_TASK_TRACED_TASK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/task/axis_words.h"
#include "proto/task.pb.h"

namespace ksearch {

// The request to the user's interpreter.
struct TraceRequest {
  std::string interpreter;
  std::string name;      // of the task
  std::string file;      // the user's
  std::string function;  // empty: the only one in the file
  std::vector<AxisValues> shapes;
  std::string dtype;  // of floating inputs if the file does not say; empty: float32
};

// A torch function described as a task, without the task's programs.
struct TracedTask {
  v1::Definition definition;
  std::vector<v1::Workload> workloads;
  v1::TaskSettings settings;
  std::string function;
  // The function is a program itself: it is called `run` and takes only the task's inputs.
  bool is_program = false;
  bool returns_tuple = false;
  // What the user should know or correct, one sentence each.
  std::vector<std::string> assumed;
};

// The maximum size of the script's output.
inline constexpr int64_t kMostTraceBytes = 4 << 20;

// Parses the output of trace_task, which the user's file can influence. INVALID_ARGUMENT: its
// "error", or what is wrong with the text.
absl::StatusOr<TracedTask> ParseTrace(absl::string_view json);

// INVALID_ARGUMENT unless `task` has the requested name and function.
absl::Status CheckAnswers(const TraceRequest& request, const TracedTask& task);

// Has the interpreter import the file and call the function (trace_task, beside the binary), in a
// process that ends with this one, within 10 minutes and this machine's memory. The file is the
// user's own code and runs unconfined. INVALID_ARGUMENT says what to change.
absl::StatusOr<TracedTask> TraceTask(const TraceRequest& request);

// Returns `given`; otherwise bin/python3 of VIRTUAL_ENV; otherwise python3 on PATH. NOT_FOUND if
// there is none.
absl::StatusOr<std::string> FindInterpreter(const std::string& given);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_TRACED_TASK_H_
