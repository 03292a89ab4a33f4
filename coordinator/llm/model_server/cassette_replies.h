#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CASSETTE_REPLIES_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CASSETTE_REPLIES_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "common/mutex.h"
#include "coordinator/llm/model_server/cassette.h"
#include "coordinator/llm/model_server/reply_source.h"

namespace ksearch {

struct ChatEndpointOptions {
  std::optional<absl::Duration> delay;  // replaces the cassette's delay
  // Requests without an entry are appended to this file as entries to fill in, once per key. Empty:
  // they are not recorded.
  std::string record_misses_path;
};

// Replies of a cassette, chosen by the labels in a request's headers. Thread-safe.
class CassetteReplies final : public ReplySource {
 public:
  CassetteReplies(Cassette cassette, ChatEndpointOptions options);

  const std::string& model() const override { return cassette_.model(); }
  EndpointResponse Reply(const ChatQuestion& question) override;
  // Returns the fault of the entry for the request's labels. No entry is needed: without one there
  // is no fault.
  std::optional<EndpointResponse> EmbeddingFault(const ChatQuestion& question) override;

 private:
  EndpointResponse Miss(const CassetteKey& key, const ChatQuestion& question);
  // Returns true and counts one failure while `entry` has failures left to play.
  bool TakeFault(const Cassette::Entry& entry);
  void RecordMiss(const CassetteKey& key, const std::string& prompt);

  const Cassette cassette_;
  const ChatEndpointOptions options_;

  Mutex mu_;
  std::map<const Cassette::Entry*, int> faults_played_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> recorded_ ABSL_GUARDED_BY(mu_);  // keys as text
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CASSETTE_REPLIES_H_
