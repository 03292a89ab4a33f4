#ifndef KSEARCH_CLI_EVALUATION_H_
#define KSEARCH_CLI_EVALUATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/client.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Has the coordinator evaluate, and waits for the result, also across a lost connection or a
// restart of the coordinator of up to 60 s. Prints progress on stderr after `label` if that is a
// terminal. If not null, `packet` is set to the evaluation summary, and `beside` to what came with
// the result (suite_scores, degenerate), without the result.
absl::StatusOr<v1::JobResult> Evaluate(Client* client, const v1::EvaluateRequest& request,
                                       const std::string& label = "", std::string* packet = nullptr,
                                       v1::EvaluateReply* beside = nullptr);

// Returns the exit code of a command that evaluated this: kExitOk only if the program passed.
ExitCode ExitCodeFor(const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_CLI_EVALUATION_H_
