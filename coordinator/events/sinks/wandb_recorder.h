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

// A run as Weights & Biases keeps one that was made without a network: a folder
// offline-run-<when>-<id>/ with run-<id>.wandb and files/, which `wandb sync FOLDER` uploads. Each
// time a run is resumed a new folder continues with the same id and higher steps. The fields of the
// configuration that go there are listed here; programs are files of new incumbents only.
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
  // Begins the folder of what follows.
  absl::Status Begin(const v1::RunEvent& event, RunFiles* files);
  // The run's end, as far as this folder goes.
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
  std::string folder_;  // of what is written now; empty: the next event begins one
  absl::Time begun_;    // when it was
  int64_t records_ = 0;
  int64_t step_ = -1;  // of the last history record, rises over all folders
};

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_WANDB_RECORDER_H_
