#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_SINK_TABLE_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_SINK_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/events/sinks/run_recorder.h"
#include "proto/config.pb.h"

namespace ksearch::sinks {

// The kinds of sinks, in the order in which messages list them.
std::vector<std::string> SinkKinds();

// A recorder of one run. `sink.kind` is one of SinkKinds.
std::unique_ptr<RunRecorder> MakeRecorder(const v1::SinkConfig& sink, const std::string& run_id,
                                          const v1::RunConfig& config, RunReader reader);

// INVALID_ARGUMENT lists every fault, each with its field.
absl::Status CheckSinks(const google::protobuf::RepeatedPtrField<v1::SinkConfig>& sinks);
// The sink with its name and its folder filled in; the folder is an absolute path or one below
// `state_dir`.
v1::SinkConfig WithDefaults(v1::SinkConfig sink, const std::string& state_dir);

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_SINK_TABLE_H_
