#ifndef KSEARCH_GPU_WORKER_SESSION_RESULT_SPOOL_H_
#define KSEARCH_GPU_WORKER_SESSION_RESULT_SPOOL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Results on disk until the coordinator has acknowledged them: one file per lease, which appears
// whole or not at all (temporary file, fsync, rename). A file that cannot be read is renamed to
// "<name>.corrupt" with a warning. Thread-safe for different leases.
class ResultSpool {
 public:
  // Creates the folder if it is missing and removes the remains of unfinished writes.
  static absl::StatusOr<std::unique_ptr<ResultSpool>> Open(const std::string& folder);

  // The result is durable when it returns OK. OUT_OF_RANGE: larger than a message may be; other
  // errors are those of the file system.
  absl::Status Put(const v1::RecordResultRequest& request);
  void Remove(const std::string& lease_id);
  // Keeps a result that the coordinator refused as "<name>.refused", for people to look at.
  void SetAside(const std::string& lease_id);
  // Everything in the spool, oldest file first.
  std::vector<v1::RecordResultRequest> Load() const;

 private:
  explicit ResultSpool(std::string folder) : folder_(std::move(folder)) {}
  std::string PathOf(const std::string& lease_id) const;

  const std::string folder_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_RESULT_SPOOL_H_
