#ifndef KSEARCH_COMMON_CONFIG_FILE_H_
#define KSEARCH_COMMON_CONFIG_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace ksearch {

// Reads a configuration of at most 1 MiB. A name that ends in .yaml or .yml is that of YAML, .json
// of JSON, both with the fields and enumerators of the protos and with protobuf's texts for
// durations
// ("30s"); any other is that of a textproto. INVALID_ARGUMENT names the file and, of every fault
// that has one, the line. NOT_FOUND and PERMISSION_DENIED name the file.
absl::Status ReadConfigFile(const std::string& path, google::protobuf::Message* message);

// The same of a text, by the name of its file.
absl::Status ParseConfig(absl::string_view text, const std::string& name,
                         google::protobuf::Message* message);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_CONFIG_FILE_H_
