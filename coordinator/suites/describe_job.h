#ifndef KSEARCH_COORDINATOR_SUITES_DESCRIBE_JOB_H_
#define KSEARCH_COORDINATOR_SUITES_DESCRIBE_JOB_H_

#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The job that has a worker run `program` once (JOB_KIND_DESCRIBE), and the empty task that it
// belongs to. The program and the kind of device decide its id, so that a result holds on every
// platform, and a changed file of the problem makes a new job.
struct DescribeJob {
  v1::Task task;
  v1::JobSpec spec;
};
DescribeJob MakeDescribeJob(const ProblemProgram& program);

// The descriptions of problems that workers have sent so far. Thread-safe.
class Descriptions {
 public:
  virtual ~Descriptions() = default;
  // The result of MakeDescribeJob(program), nullopt if there is none yet.
  virtual absl::StatusOr<std::optional<v1::JobResult>> Find(
      const ProblemProgram& program) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_DESCRIBE_JOB_H_
