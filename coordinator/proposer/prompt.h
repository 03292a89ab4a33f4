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

// A finished prompt.
struct Prompt {
  std::string system;
  std::string user;
  std::vector<std::string> dropped_parts;  // "part: kept N of M tokens", one per part cut
};

// Code shown in a prompt, with what is known of it.
struct ShownCode {
  v1::Sources sources;
  std::string candidate_id;
  std::optional<double> score;  // absent: did not pass
  std::optional<double> latency_us;
};

// Facts that are the same for every prompt of a run.
struct PromptFacts {
  v1::Task task;  // held-out workloads must not be shown
  v1::Language language = v1::LANGUAGE_UNSPECIFIED;
  std::string kernel_header;
  std::string target_hardware;
  bool paper = false;  // what is shown is as in K-Search's published code
  // Latency of the baseline by workload uuid, where it is known; may be empty.
  std::map<std::string, double> baseline_us;
  // Time that no call on the device can beat, by workload uuid, where it is known; may be empty.
  std::map<std::string, double> floor_us;
  // What the device does at most, as measured; 0 where it is not known.
  v1::DevicePeaks peaks;
  // What earlier searches measured of changes, for the planner; may be empty.
  std::vector<v1::MemoryPrior> priors;
  // Estimated tokens (four bytes each) a prompt may have; parts give way by importance.
  int max_tokens = 96000;
};

// kRepair: the current program passed its screening and was refused by its confirmation.
enum class CodePromptKind { kActionFromSpec, kActionOnBase, kDebug, kImprove, kRepair };

struct CodePromptContext {
  CodePromptKind kind = CodePromptKind::kActionFromSpec;
  v1::Node node;                             // the chosen action
  std::optional<ShownCode> base;             // parent's code, or the cycle's best
  std::optional<ShownCode> current;          // the code to debug or improve
  std::optional<v1::JobResult> last_result;  // of `current`
  // The program that `current` was built from, if that is known.
  std::optional<v1::JobResult> parent_result;
  // The confirmation of `current`; always there for kRepair.
  std::optional<v1::ConfirmedProgram> confirmation;
  int attempt = 1;
  int attempts_hint = 5;
  const v1::WorldModel* world_model = nullptr;  // may be null
  std::vector<std::string> lessons;             // of this cycle's failed attempts, oldest first
  std::string in_flight_text;               // a line on each other cycle under way; may be empty
  std::optional<v1::JudgeVerdict> verdict;  // on the program that is shown to be changed
  // Non-empty: the previous reply was unusable for this reason; ask for the whole answer again.
  std::string complaint;
  std::string refused_reply;  // that reply, bounded; may be empty
};

enum class WorldModelPromptKind { kInit, kPropose, kRefine, kTooHard };

struct WorldModelPromptContext {
  WorldModelPromptKind kind = WorldModelPromptKind::kInit;
  const v1::WorldModel* world_model = nullptr;  // null for kInit
  std::string node_id;  // just solved or given up; empty for init and propose
  std::optional<ShownCode> code;
  std::optional<v1::JobResult> result;
  std::optional<v1::JobResult> parent_result;        // of the program that `code` was built from
  std::optional<v1::ConfirmedProgram> confirmation;  // of `code`
  std::vector<std::string> lessons;                  // of the cycle's failed attempts
  // Nodes that cycles work on, and a line on each of those cycles.
  std::vector<std::string> nodes_in_flight;
  std::string in_flight_text;
  int round = 0;
  int max_new_nodes = 3;
  std::string requirement;    // extra demand, e.g. "give node x an open child"
  std::string complaint;      // errors of the previous, rejected reply, in full
  std::string refused_reply;  // that reply, bounded; may be empty
};

// Pure functions of their arguments.
Prompt BuildCodePrompt(const PromptFacts& facts, const CodePromptContext& context);
Prompt BuildWorldModelPrompt(const PromptFacts& facts, const WorldModelPromptContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_PROMPT_H_
