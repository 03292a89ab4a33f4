#ifndef KSEARCH_COMMON_SINK_ARGUMENT_H_
#define KSEARCH_COMMON_SINK_ARGUMENT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"

namespace ksearch {

// The kinds of sinks, in the order in which messages list them
// (coordinator/events/sinks/sink_table.cc).
inline constexpr absl::string_view kSinkKinds[] = {"jsonl", "wandb", "tensorboard"};

// Parses the value of `--sink`: [NAME=]KIND[:FOLDER]. A relative folder starts at the current one.
// Returns a usage error if the value does not have that form, or if it names an unknown kind.
absl::StatusOr<v1::SinkConfig> ParseSinkArgument(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_SINK_ARGUMENT_H_
