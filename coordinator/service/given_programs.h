#ifndef KSEARCH_COORDINATOR_SERVICE_GIVEN_PROGRAMS_H_
#define KSEARCH_COORDINATOR_SERVICE_GIVEN_PROGRAMS_H_

#include "absl/status/status.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Converts the programs of a request to the form of its task's candidates: named published
// solutions replace `sources` and `rival`, and the suite adapts programs in its own form.
// NOT_FOUND: no such solution or task. INVALID_ARGUMENT: both a program and a name are given, or
// the suite says why the program can never be judged. A Python program that compiles C++ or CUDA
// gets a time limit that allows for it, unless the request sets one.
absl::Status ReadPrograms(const TaskSuite& tasks, v1::EvaluateRequest* request);

// If the request names a mode of the suite's evaluator, replaces it by that mode's settings, and
// changes `task` to the one that this evaluator sees (TaskSuite::SetMode). INVALID_ARGUMENT: the
// suite has no such mode, or the request sets a field that the mode determines.
absl::Status ReadMode(const TaskSuite& tasks, v1::EvaluateRequest* request, v1::Task* task);

// The same as ReadPrograms for the seed of a run. If the request names no language, the run uses
// the seed's; INVALID_ARGUMENT if it names another one.
absl::Status ReadSeed(const TaskSuite& tasks, v1::StartRunRequest* request);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_GIVEN_PROGRAMS_H_
