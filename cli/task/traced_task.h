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

// What is asked of the user's interpreter.
struct TraceRequest {
  std::string interpreter;
  std::string name;      // of the task
  std::string file;      // the user's
  std::string function;  // empty: the only one that the file defines
  std::vector<AxisValues> shapes;
  std::string dtype;  // of floating inputs, where the file does not say; empty: float32
};

// A torch function described as a task, without the task's programs.
struct TracedTask {
  v1::Definition definition;
  std::vector<v1::Workload> workloads;
  v1::TaskSettings settings;
  std::string function;
  // The function can stand as a program itself: it is called `run` and takes the task's inputs
  // alone.
  bool is_program = false;
  bool returns_tuple = false;
  // What the user should know or correct, a sentence each.
  std::vector<std::string> assumed;
};

// Most bytes that the script may print.
inline constexpr int64_t kMostTraceBytes = 4 << 20;

// Reads what trace_task prints, which the user's file may have a hand in. INVALID_ARGUMENT: its
// "error", or what is wrong with the text.
absl::StatusOr<TracedTask> ParseTrace(absl::string_view json);

// INVALID_ARGUMENT unless `task` bears the name, and is of the function, that were asked for.
absl::Status CheckAnswers(const TraceRequest& request, const TracedTask& task);

// Has the interpreter import the file and call the function (trace_task, beside the binary), in
// a process that ends with this one, within 10 minutes and this machine's memory. The file is the
// user's own and is not kept from anything. INVALID_ARGUMENT says what to change.
absl::StatusOr<TracedTask> TraceTask(const TraceRequest& request);

// `given`; else bin/python3 of VIRTUAL_ENV; else python3 on PATH. NOT_FOUND if there is none.
absl::StatusOr<std::string> FindInterpreter(const std::string& given);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_TRACED_TASK_H_
