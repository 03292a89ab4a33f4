#ifndef KSEARCH_COORDINATOR_SERVICE_GIVEN_PROGRAMS_H_
#define KSEARCH_COORDINATOR_SERVICE_GIVEN_PROGRAMS_H_

#include "absl/status/status.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Puts programs that come with a request into the form of its task's candidates: published
// solutions that are named take the places of `sources` and `rival`, and the suite adapts what is
// in a form of its own. NOT_FOUND: no such solution or task. INVALID_ARGUMENT: both a program and a
// name are given, or the suite says why the program can never be judged. A program in Python that
// has C++ or CUDA compiled gets the time that this takes, unless the request says how long.
absl::Status ReadPrograms(const TaskSuite& tasks, v1::EvaluateRequest* request);

// Where the request names a mode of the suite's evaluator: what it asks for takes its place, and
// `task` becomes the one that this evaluator sees (TaskSuite::SetMode). INVALID_ARGUMENT: the suite
// has no such mode, or the request says itself what a mode decides.
absl::Status ReadMode(const TaskSuite& tasks, v1::EvaluateRequest* request, v1::Task* task);

// The same as ReadPrograms for the seed of a run. Where the request names no language, the run's is
// the seed's; INVALID_ARGUMENT if it names another one.
absl::Status ReadSeed(const TaskSuite& tasks, v1::StartRunRequest* request);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_GIVEN_PROGRAMS_H_
