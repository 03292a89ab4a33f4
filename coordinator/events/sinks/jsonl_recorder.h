#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_JSONL_RECORDER_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_JSONL_RECORDER_H_

#include <string>

#include "coordinator/events/sinks/run_recorder.h"

namespace ksearch::sinks {

// One JSON object per event and line, {"run_id": ..., "event": {...}} with the fields of the
// protos, in <run id>.jsonl: for jq and data frames.
class JsonlRecorder final : public RunRecorder {
 public:
  explicit JsonlRecorder(const std::string& run_id)
      : run_id_(run_id), path_(SafeName(run_id) + ".jsonl") {}
  absl::Status Record(const v1::RunEvent& event, RunFiles* files) override;

 private:
  const std::string run_id_;
  const std::string path_;
};

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_JSONL_RECORDER_H_
