#ifndef KSEARCH_COORDINATOR_SUITES_DESCRIBE_JOB_H_
#define KSEARCH_COORDINATOR_SUITES_DESCRIBE_JOB_H_

#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The job that has a worker run `program` once (JOB_KIND_DESCRIBE), and the empty task that it is
// of. Named by the program and the kind of device: on any platform, and again when a file of the
// problem changes.
struct DescribeJob {
  v1::Task task;
  v1::JobSpec spec;
};
DescribeJob MakeDescribeJob(const ProblemProgram& program);

// What workers have said of problems so far. Thread-safe.
class Descriptions {
 public:
  virtual ~Descriptions() = default;
  // The result of MakeDescribeJob(program), nullopt if there is none yet.
  virtual absl::StatusOr<std::optional<v1::JobResult>> Find(
      const ProblemProgram& program) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_DESCRIBE_JOB_H_
