#ifndef KSEARCH_COMMON_TEXTPROTO_H_
#define KSEARCH_COMMON_TEXTPROTO_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/message.h"
#include "google/protobuf/timestamp.pb.h"

namespace ksearch {

// Parses `text` into `message`. Unknown fields, duplicates of singular fields and syntax errors are
// INVALID_ARGUMENT "<name>:<line>:<column>: <what>", all faults listed (first 10).
absl::Status ParseTextproto(absl::string_view text, absl::string_view name,
                            google::protobuf::Message* message);

// The same from a file of at most 1 MiB. NOT_FOUND and PERMISSION_DENIED name the path.
absl::Status ReadTextproto(const std::string& path, google::protobuf::Message* message);

std::string ToTextproto(const google::protobuf::Message& message);

// Proto3 JSON with original field names, defaults omitted unless `with_defaults`.
std::string ToJson(const google::protobuf::Message& message, bool with_defaults = false,
                   bool pretty = true);

// Whole file; RESOURCE_EXHAUSTED if larger than `max_bytes`, INVALID_ARGUMENT if it is no file.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);

// Makes `path` hold `content` or leaves it as it was: temporary file in the same folder, with
// `mode` (less the umask), fsync, rename, fsync of the folder.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view content,
                                 int mode = 0644);

absl::Duration FromProto(const google::protobuf::Duration& duration);
google::protobuf::Duration ToProto(absl::Duration duration);
absl::Time FromProto(const google::protobuf::Timestamp& time);
google::protobuf::Timestamp ToProto(absl::Time time);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_TEXTPROTO_H_
