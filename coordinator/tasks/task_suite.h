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

// What a worker has to run once (JOB_KIND_DESCRIBE) before a problem can be loaded: workers with
// such devices, which it does not use, have what the problem's task needs.
struct ProblemProgram {
  v1::Sources sources;
  v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED;
};

// A source of tasks. Deterministic: the same files give the same Task. Thread-safe.
class TaskSuite {
 public:
  virtual ~TaskSuite() = default;
  // Every task, usable or not (`error` says why not), sorted by name.
  virtual std::vector<v1::TaskSummary> List() const = 0;
  // NOT_FOUND (the message lists near names); INVALID_ARGUMENT "<file>:<line or field>: what".
  virtual absl::StatusOr<v1::Task> Load(const std::string& name) const = 0;
  // FAILED_PRECONDITION if the problem's files say all there is to know.
  virtual absl::StatusOr<ProblemProgram> DescribingProgramOf(const std::string& name) const {
    return absl::FailedPreconditionError(
        absl::StrCat("task '", name, "' needs no description: its files say what it is"));
  }
  // A program of the task as the suite's own tools take it, named as they name it.
  // FAILED_PRECONDITION: there is no such form here; INVALID_ARGUMENT: not of this program.
  virtual absl::StatusOr<v1::SourceFile> ToUpstream(const std::string& name,
                                                    const v1::Sources& /*program*/) const {
    return absl::FailedPreconditionError(
        absl::StrCat("programs of task '", name, "' are handed on as they are"));
  }
  // Makes a program, as users of the suite write it, one with the task's entry; leaves others
  // alone.
  virtual absl::Status Adapt(const std::string& /*name*/, v1::Sources* /*sources*/) const {
    return absl::OkStatus();
  }
  // Programs that others published for the task, sorted by name, but for what workers have
  // (SolutionSummary.missing). Errors as Load, but for what makes the task unusable.
  virtual absl::StatusOr<std::vector<v1::SolutionSummary>> Solutions(
      const std::string& /*name*/) const {
    return std::vector<v1::SolutionSummary>();
  }
  // One of them, with the task's entry. NOT_FOUND lists near names; INVALID_ARGUMENT: it can never
  // be judged here.
  virtual absl::StatusOr<v1::Sources> LoadSolution(const std::string& name,
                                                   const std::string& solution) const {
    return absl::NotFoundError(absl::StrCat("no solution '", solution, "': the suite of task '",
                                            name, "' has no place for published solutions"));
  }
  // Makes an evaluation one in a mode of the suite's own evaluator: its kind, its workloads, and
  // what its plan says of suites; and `task`, which Load gave, the one that this evaluator makes of
  // the suite's files, where it reads them otherwise. INVALID_ARGUMENT: the task's suite has no
  // such mode, or why its evaluator cannot use the problem.
  virtual absl::Status SetMode(const std::string& name, const std::string& /*mode*/,
                               v1::EvaluateRequest* /*request*/, v1::Task* /*task*/) const {
    return absl::InvalidArgumentError(
        absl::StrCat("suite_mode: task '", name,
                     "' is of no suite with an evaluator of its own: leave --compat out for it"));
  }
  // What the suite's own rules make of a result of the task; none where it has no rules for it.
  virtual std::vector<v1::SuiteScore> Scores(const std::string& /*name*/,
                                             const v1::JobResult& /*result*/) const {
    return {};
  }
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_TASK_SUITE_H_
