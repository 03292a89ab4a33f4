#ifndef KSEARCH_CLI_RESULT_RECORD_H_
#define KSEARCH_CLI_RESULT_RECORD_H_

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// A folder with a kernel that was found and the record of its confirmation (results/README.md):
// record.json beside the program.

// Whether the folder has a record.
bool HasResultRecord(const std::string& folder);

// The record as it stands. INVALID_ARGUMENT if it is no JSON object, or too large.
absl::StatusOr<google::protobuf::Struct> ReadResultRecord(const std::string& folder);

struct RecordedResult {
  std::string task;
  std::string candidate_id;
  v1::Sources sources;
  // As far as the record tells: device, and the comparison with the baseline.
  v1::JobResult claim;
};

// INVALID_ARGUMENT names the file and the field that is missing or wrong; FAILED_PRECONDITION: the
// record does not call the program improved, or is about another program than the one beside it.
absl::StatusOr<RecordedResult> ReadRecordedResult(const std::string& folder);

}  // namespace ksearch

#endif  // KSEARCH_CLI_RESULT_RECORD_H_
