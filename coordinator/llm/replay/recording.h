#ifndef KSEARCH_COORDINATOR_LLM_REPLAY_RECORDING_H_
#define KSEARCH_COORDINATOR_LLM_REPLAY_RECORDING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/recording.pb.h"

namespace ksearch {

// A recorded run, read from its cassette.
struct Recording {
  v1::RecordedHeader header;
  std::vector<v1::RecordedCall> calls;  // by number
  std::vector<v1::RecordedJob> jobs;    // with their results
};

// INVALID_ARGUMENT "<name>:<line>: <what>".
absl::StatusOr<Recording> ParseRecording(absl::string_view text, absl::string_view name);
// Reads a file of at most 1 GiB. Errors name the path.
absl::StatusOr<Recording> ReadRecording(const std::string& path);

// Returns a line of the file, including its end of line.
std::string RecordingLine(const v1::RecordedLine& line);

// Returns a key that is equal for requests that a model cannot tell apart: SHA-256 over model,
// system, user, max_output_tokens and reasoning_effort.
std::string RequestKey(const v1::RecordedCall& request);

// Explains why `request` has no recorded reply: names the most similar recorded request and the
// differences. For people.
std::string ExplainMiss(const Recording& recording, const v1::RecordedCall& request);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_REPLAY_RECORDING_H_
