#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_WANDB_RECORDER_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_WANDB_RECORDER_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/events/sinks/run_progress.h"
#include "coordinator/events/sinks/run_recorder.h"
#include "coordinator/events/sinks/wandb_log.h"
#include "coordinator/events/sinks/wire_message.h"

namespace ksearch::sinks {

// Writes a run in the form of an offline run of Weights & Biases: a folder offline-run-<when>-<id>/
// with run-<id>.wandb and files/, which `wandb sync FOLDER` uploads. Each time a run is resumed a
// new folder continues with the same id and higher steps. Only the configuration fields listed here
// are written, and only programs of new incumbents.
class WandbRecorder final : public RunRecorder {
 public:
  struct Options {
    std::string project;  // "ksearch" if empty
    std::string entity;   // empty: the default of the account that uploads
    bool without_sources = false;
  };
  WandbRecorder(std::string run_id, v1::RunConfig config, Options options, RunReader reader);
  absl::Status Record(const v1::RunEvent& event, RunFiles* files) override;

 private:
  // Begins a new folder for the following events.
  absl::Status Begin(const v1::RunEvent& event, RunFiles* files);
  // Ends the run in this folder.
  absl::Status End(const v1::RunEvent& event, RunFiles* files);
  absl::Status AddHistory(RunFiles* files);
  absl::Status AddSummary(RunFiles* files);
  absl::Status AddSources(const v1::RunEvent& event, RunFiles* files);
  absl::Status AddTree(const v1::RunEvent& event, RunFiles* files);
  absl::Status AddFile(const std::string& path, absl::string_view content, RunFiles* files);
  absl::Status Write(int field, const WireMessage& body, RunFiles* files);
  // _step, _timestamp, _runtime as history and summary have them, in JSON.
  std::vector<std::pair<std::string, std::string>> Moment() const;

  const std::string run_id_;
  const std::string id_;  // W&B's
  const v1::RunConfig config_;
  const Options options_;
  const RunReader reader_;
  RunProgress progress_;
  WandbLog log_;
  std::string folder_;  // the current folder; empty: the next event begins one
  absl::Time begun_;    // when it was
  int64_t records_ = 0;
  int64_t step_ = -1;  // of the last history record; increases across folders
};

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_WANDB_RECORDER_H_
