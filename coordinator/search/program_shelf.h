#ifndef KSEARCH_COORDINATOR_SEARCH_PROGRAM_SHELF_H_
#define KSEARCH_COORDINATOR_SEARCH_PROGRAM_SHELF_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The programs and results of one run, by their ids. What an id stands for never changes, so that a
// strategy which keeps ids alone and reads the rest here is still a function of its inputs. Has the
// programs of all steps before the present one. NOT_FOUND: there is no such; other errors are the
// store's.
class ProgramShelf {
 public:
  virtual ~ProgramShelf() = default;

  virtual absl::StatusOr<v1::Sources> ReadSources(const std::string& candidate_id) const = 0;
  virtual absl::StatusOr<v1::JobResult> ReadResult(const std::string& job_id) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PROGRAM_SHELF_H_
