#ifndef KSEARCH_COORDINATOR_LLM_COMMAND_COMMAND_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_COMMAND_COMMAND_CLIENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/unique_fd.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/call_queue.h"

namespace ksearch {

// v1::AgentCommand with its defaults filled in.
struct CommandOptions {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // complete
  std::string working_directory;                   // empty: a new folder for each call
  absl::Duration timeout = absl::Minutes(30);
  int64_t max_reply_bytes = int64_t{8} << 20;
  int max_concurrency = 4;
  std::string default_model = "command";
  bool json_output = false;
  int max_attempts = 2;  // for UNAVAILABLE and DATA_LOSS
  absl::Duration retry_delay = absl::Seconds(1);
};

// Runs a program for each reply. UNAVAILABLE if it fails (the message has its exit code and the end
// of its standard error), DEADLINE_EXCEEDED, FAILED_PRECONDITION if it cannot be started, DATA_LOSS
// if its output is not a reply. Values of variables that look like secrets are removed from errors
// and replies. Processes that it started do not outlive the call, unless they leave its process
// group.
class CommandClient final : public LlmClient {
 public:
  explicit CommandClient(CommandOptions options);
  // Kills running programs.
  ~CommandClient() override;

  void Complete(LlmRequest request, Done done) override;

 private:
  void Loop();
  absl::StatusOr<LlmReply> Run(const LlmRequest& request) const;
  std::string Redacted(std::string text) const;

  const CommandOptions options_;
  const UniqueFd stop_;  // becomes readable when closing
  CallQueue calls_;
  // Processes die with the thread that started them, so the threads live as long as the client.
  std::vector<std::thread> threads_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_COMMAND_COMMAND_CLIENT_H_
