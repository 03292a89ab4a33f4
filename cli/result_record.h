#ifndef KSEARCH_CLI_RESULT_RECORD_H_
#define KSEARCH_CLI_RESULT_RECORD_H_

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// A folder with a kernel and the record of its confirmation (results/README.md): the program and
// record.json.

// Returns true if the folder has a record.
bool HasResultRecord(const std::string& folder);

// Returns the record unchecked. INVALID_ARGUMENT if it is not a JSON object, or too large.
absl::StatusOr<google::protobuf::Struct> ReadResultRecord(const std::string& folder);

struct RecordedResult {
  std::string task;
  std::string candidate_id;
  v1::Sources sources;
  // The part of the claim that the record contains: device, and the comparison with the baseline.
  v1::JobResult claim;
};

// INVALID_ARGUMENT names the file and the missing or faulty field; FAILED_PRECONDITION: the record
// does not call the program improved, or is about another program than the one in the folder.
absl::StatusOr<RecordedResult> ReadRecordedResult(const std::string& folder);

}  // namespace ksearch

#endif  // KSEARCH_CLI_RESULT_RECORD_H_
