#ifndef KSEARCH_COORDINATOR_PROPOSER_PROMPT_H_
#define KSEARCH_COORDINATOR_PROPOSER_PROMPT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/memory.pb.h"
#include "proto/result.pb.h"
#include "proto/search_state.pb.h"
#include "proto/task.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// A complete prompt.
struct Prompt {
  std::string system;
  std::string user;
  std::vector<std::string> dropped_parts;  // "part: kept N of M tokens", one per shortened part
};

// Code that a prompt shows, and its score.
struct ShownCode {
  v1::Sources sources;
  std::string candidate_id;
  std::optional<double> score;  // absent if it did not pass
  std::optional<double> latency_us;
};

// Facts that are the same for every prompt of a run.
struct PromptFacts {
  v1::Task task;  // held-out workloads must not be shown
  v1::Language language = v1::LANGUAGE_UNSPECIFIED;
  std::string kernel_header;
  std::string target_hardware;
  bool paper = false;  // shows the same content as K-Search's published code
  // Latency of the baseline by workload uuid, where known; may be empty.
  std::map<std::string, double> baseline_us;
  // Floor by workload uuid, where known: the time that no call on the device can beat; may be
  // empty.
  std::map<std::string, double> floor_us;
  // The device's measured peaks; 0 if unknown.
  v1::DevicePeaks peaks;
  // Gains that earlier searches measured, for the planner; may be empty.
  std::vector<v1::MemoryPrior> priors;
  // Maximum estimated length in tokens (four bytes each). The least important parts are shortened
  // first.
  int max_tokens = 96000;
};

// kRepair: the current program passed its screening and was refused by its confirmation.
enum class CodePromptKind { kActionFromSpec, kActionOnBase, kDebug, kImprove, kRepair };

struct CodePromptContext {
  CodePromptKind kind = CodePromptKind::kActionFromSpec;
  v1::Node node;                             // the chosen action
  std::optional<ShownCode> base;             // the parent's code, or the cycle's best
  std::optional<ShownCode> current;          // the code to debug or improve
  std::optional<v1::JobResult> last_result;  // of `current`
  // Result of the program that `current` was built from, if known.
  std::optional<v1::JobResult> parent_result;
  // The confirmation of `current`; always set for kRepair.
  std::optional<v1::ConfirmedProgram> confirmation;
  int attempt = 1;
  int attempts_hint = 5;
  const v1::WorldModel* world_model = nullptr;  // may be null
  std::vector<std::string> lessons;             // from this cycle's failed attempts, oldest first
  std::string in_flight_text;               // one line per other cycle in progress; may be empty
  std::optional<v1::JudgeVerdict> verdict;  // on the program that is to be changed
  // If not empty, why the previous reply was unusable: asks for the whole answer again.
  std::string complaint;
  std::string refused_reply;  // the previous reply, limited in length; may be empty
};

enum class WorldModelPromptKind { kInit, kPropose, kRefine, kTooHard };

struct WorldModelPromptContext {
  WorldModelPromptKind kind = WorldModelPromptKind::kInit;
  const v1::WorldModel* world_model = nullptr;  // null for kInit
  std::string node_id;  // the node just solved or given up; empty for init and propose
  std::optional<ShownCode> code;
  std::optional<v1::JobResult> result;
  std::optional<v1::JobResult> parent_result;        // of the program that `code` was built from
  std::optional<v1::ConfirmedProgram> confirmation;  // of `code`
  std::vector<std::string> lessons;                  // from the cycle's failed attempts
  // The nodes that cycles work on, and one line per such cycle.
  std::vector<std::string> nodes_in_flight;
  std::string in_flight_text;
  int round = 0;
  int max_new_nodes = 3;
  std::string requirement;    // additional demand, e.g. "give node x an open child"
  std::string complaint;      // all errors of the previous, rejected reply
  std::string refused_reply;  // the previous reply, limited in length; may be empty
};

// Pure functions of their arguments.
Prompt BuildCodePrompt(const PromptFacts& facts, const CodePromptContext& context);
Prompt BuildWorldModelPrompt(const PromptFacts& facts, const WorldModelPromptContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_PROMPT_H_
