#ifndef KSEARCH_COORDINATOR_TASKS_TASK_SUITE_H_
#define KSEARCH_COORDINATOR_TASKS_TASK_SUITE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// A program that a worker must run once (JOB_KIND_DESCRIBE) before a problem can be loaded.
// `device` only selects workers that have what the problem's task needs; the program does not use
// the device.
struct ProblemProgram {
  v1::Sources sources;
  v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED;
};

// A source of tasks. Deterministic: the same files always give the same Task. Thread-safe.
class TaskSuite {
 public:
  virtual ~TaskSuite() = default;
  // Returns every task, sorted by name. For an unusable task, `error` says why.
  virtual std::vector<v1::TaskSummary> List() const = 0;
  // NOT_FOUND (the message lists similar names); INVALID_ARGUMENT "<file>:<line or field>: what".
  virtual absl::StatusOr<v1::Task> Load(const std::string& name) const = 0;
  // Returns the program that describes the problem. FAILED_PRECONDITION if the problem's files are
  // a complete description.
  virtual absl::StatusOr<ProblemProgram> DescribingProgramOf(const std::string& name) const {
    return absl::FailedPreconditionError(
        absl::StrCat("task '", name, "' needs no description: its files say what it is"));
  }
  // Converts a program of the task to the form that the suite's own tools accept, with the file
  // name that they use. FAILED_PRECONDITION: the suite has no such form; INVALID_ARGUMENT: this
  // program cannot be converted.
  virtual absl::StatusOr<v1::SourceFile> ToUpstream(const std::string& name,
                                                    const v1::Sources& /*program*/) const {
    return absl::FailedPreconditionError(
        absl::StrCat("programs of task '", name, "' are handed on as they are"));
  }
  // Adapts a program in the form that users of the suite write to the task's entry. Leaves other
  // programs unchanged.
  virtual absl::Status Adapt(const std::string& /*name*/, v1::Sources* /*sources*/) const {
    return absl::OkStatus();
  }
  // Returns the programs that others published for the task, sorted by name, without what workers
  // lack (SolutionSummary.missing). Errors as for Load, except those that only make the task
  // unusable.
  virtual absl::StatusOr<std::vector<v1::SolutionSummary>> Solutions(
      const std::string& /*name*/) const {
    return std::vector<v1::SolutionSummary>();
  }
  // Returns one published program with the task's entry. NOT_FOUND lists similar names;
  // INVALID_ARGUMENT: the program can never be judged here.
  virtual absl::StatusOr<v1::Sources> LoadSolution(const std::string& name,
                                                   const std::string& solution) const {
    return absl::NotFoundError(absl::StrCat("no solution '", solution, "': the suite of task '",
                                            name, "' has no place for published solutions"));
  }
  // Turns an evaluation into one in a mode of the suite's own evaluator: sets its kind, its
  // workloads, and the plan's settings for suites. Also changes `task`, which Load returned, where
  // this evaluator reads the suite's files differently. INVALID_ARGUMENT: the task's suite has no
  // such mode, or its evaluator cannot use the problem; the message says why.
  virtual absl::Status SetMode(const std::string& name, const std::string& /*mode*/,
                               v1::EvaluateRequest* /*request*/, v1::Task* /*task*/) const {
    return absl::InvalidArgumentError(
        absl::StrCat("suite_mode: task '", name,
                     "' is of no suite with an evaluator of its own: leave --compat out for it"));
  }
  // Returns the scores of a result of the task by the suite's own rules, or none if the suite has
  // no rules for it.
  virtual std::vector<v1::SuiteScore> Scores(const std::string& /*name*/,
                                             const v1::JobResult& /*result*/) const {
    return {};
  }
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_TASK_SUITE_H_
