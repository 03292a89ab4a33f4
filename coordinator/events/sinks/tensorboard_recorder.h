#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_TENSORBOARD_RECORDER_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_TENSORBOARD_RECORDER_H_

#include <string>

#include "coordinator/events/sinks/run_progress.h"
#include "coordinator/events/sinks/run_recorder.h"

namespace ksearch::sinks {

// The numbers of a run as TensorBoard's event file, <run id>/events.out.tfevents.<second>.ksearch:
// one scalar per value of RunProgress and step, where the step counts the earlier points. The file
// is a sequence of TFRecords: length (u64), masked CRC-32C of it, data, masked CRC-32C of the data,
// all little-endian; the data is a tensorflow.Event (tensorflow/core/util/event.proto).
class TensorboardRecorder final : public RunRecorder {
 public:
  explicit TensorboardRecorder(const std::string& run_id) : folder_(SafeName(run_id)) {}
  absl::Status Record(const v1::RunEvent& event, RunFiles* files) override;

 private:
  const std::string folder_;
  std::string path_;  // set at the first event, which has the time
  RunProgress progress_;
  int64_t step_ = 0;
};

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_TENSORBOARD_RECORDER_H_
