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

// Where the files of one run go. Paths are relative, of safe characters (SafeName), with '/'.
class RunFiles {
 public:
  virtual ~RunFiles() = default;
  // Adds to the end of a file.
  virtual absl::Status Append(const std::string& path, absl::string_view bytes) = 0;
  // A whole file, which appears at once. One that is there already stays as it is.
  virtual absl::Status Place(const std::string& path, absl::string_view content) = 0;
};

// What a recorder may ask about the run.
struct RunReader {
  std::function<absl::StatusOr<v1::Sources>(const std::string& candidate_id)> sources;
  std::function<absl::StatusOr<v1::WorldModel>()> world_model;  // the newest tree
};

// One run in the form of another program. For one thread at a time.
class RunRecorder {
 public:
  virtual ~RunRecorder() = default;
  // Called with every event of the run, from the first one on, in order. The same events append the
  // same bytes: after a restart the recorder is new, gets all of them again, and what is on
  // disk already is not written twice.
  virtual absl::Status Record(const v1::RunEvent& event, RunFiles* files) = 0;
};

// `text` if it is a name of at most 60 letters, digits, '_', '-' and '.' that neither begins with a
// '.' nor has two of them in a row; otherwise one that is made of it and of its digest.
std::string SafeName(absl::string_view text);

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_RUN_RECORDER_H_
