#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_RUN_RECORDER_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_RUN_RECORDER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch::sinks {

// The destination of one run's files. Paths are relative, use '/', and contain only safe characters
// (SafeName).
class RunFiles {
 public:
  virtual ~RunFiles() = default;
  // Adds to the end of a file.
  virtual absl::Status Append(const std::string& path, absl::string_view bytes) = 0;
  // Adds a whole file, which appears atomically. An existing file is not changed.
  virtual absl::Status Place(const std::string& path, absl::string_view content) = 0;
};

// What a recorder may read about the run.
struct RunReader {
  std::function<absl::StatusOr<v1::Sources>(const std::string& candidate_id)> sources;
  std::function<absl::StatusOr<v1::WorldModel>()> world_model;  // the newest tree
};

// Writes one run in another program's format. For one thread at a time.
class RunRecorder {
 public:
  virtual ~RunRecorder() = default;
  // Called with every event of the run, from the first one on, in order. The same events must
  // append the same bytes: after a restart a new recorder gets all of them again, and bytes that
  // are already on disk are not written twice.
  virtual absl::Status Record(const v1::RunEvent& event, RunFiles* files) = 0;
};

// `text` if it is a name of at most 60 letters, digits, '_', '-' and '.' that neither begins with a
// '.' nor has two of them in a row; otherwise a name made from it and its digest.
std::string SafeName(absl::string_view text);

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_RUN_RECORDER_H_
