#ifndef KSEARCH_CLI_EVALUATION_H_
#define KSEARCH_CLI_EVALUATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/client.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Has the coordinator evaluate, and waits for the result. What it tells on the way stands on
// stderr, after `label`, if that is a terminal. `packet`, if not null, becomes what follows the
// result, and `scores` what the task's suite says of it.
absl::StatusOr<v1::JobResult> Evaluate(
    Client* client, const v1::EvaluateRequest& request, const std::string& label = "",
    std::string* packet = nullptr,
    google::protobuf::RepeatedPtrField<v1::SuiteScore>* scores = nullptr);

// What a command ends with that evaluated: kExitOk only if the program passed.
ExitCode ExitCodeFor(const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_CLI_EVALUATION_H_
