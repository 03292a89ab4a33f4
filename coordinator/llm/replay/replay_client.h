#ifndef KSEARCH_COORDINATOR_LLM_REPLAY_REPLAY_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_REPLAY_REPLAY_CLIENT_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/call_queue.h"
#include "coordinator/llm/replay/recording.h"

namespace ksearch {

// Answers from a recorded run. A request gets the reply that was recorded for an equal one
// (RequestKey): if there are several, that of the same call number, otherwise the first one not
// used yet. A run that asks the same questions as the recorded run therefore gets the same replies,
// in any order of threads, and again after a restart. Any other request fails with
// FAILED_PRECONDITION, which ends the run; the message shows the most similar recorded request.
class ReplayClient final : public LlmClient {
 public:
  explicit ReplayClient(std::shared_ptr<const Recording> recording);
  ~ReplayClient() override;

  void Complete(LlmRequest request, Done done) override;

 private:
  void Loop();
  absl::StatusOr<LlmReply> Find(const LlmRequest& request);

  const std::shared_ptr<const Recording> recording_;
  std::map<std::string, std::vector<const v1::RecordedCall*>> by_key_;  // constant
  // By run; used only by the thread.
  std::set<std::pair<std::string, const v1::RecordedCall*>> played_;

  CallQueue calls_;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_REPLAY_REPLAY_CLIENT_H_
