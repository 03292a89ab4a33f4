#ifndef KSEARCH_COMMON_CONFIG_FILE_H_
#define KSEARCH_COMMON_CONFIG_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace ksearch {

// Reads a configuration of at most 1 MiB. Files named *.yaml and *.yml are YAML and *.json JSON,
// with the fields and enumerators of the protos and protobuf's notation for durations ("30s"); all
// others are textprotos. INVALID_ARGUMENT names the file and, where possible, the line of every
// fault. NOT_FOUND and PERMISSION_DENIED name the file.
absl::Status ReadConfigFile(const std::string& path, google::protobuf::Message* message);

// The same for a text; `name` is the name of its file.
absl::Status ParseConfig(absl::string_view text, const std::string& name,
                         google::protobuf::Message* message);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_CONFIG_FILE_H_
