#ifndef KSEARCH_COORDINATOR_SEARCH_SEARCH_STRATEGY_H_
#define KSEARCH_COORDINATOR_SEARCH_SEARCH_STRATEGY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/search/program_shelf.h"
#include "proto/config.pb.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// The role for embedding texts (LlmRequest.embeds). Its model must be named for this role
// explicitly: no other model serves it.
inline constexpr char kEmbeddingRole[] = "embedding";

// A question to a model. The engine commits it, sends it, and feeds the answer back.
struct AskModel {
  int64_t call_number = 0;  // counted by the strategy from 1; names the call within the run
  std::string role;         // one of the strategy's (strategy_factory.h)
  LlmLabels labels;
  std::string system;
  std::string user;
  std::vector<std::string>
      dropped_parts;  // prompt parts cut to fit, e.g. "logs: 5120 of 9000 chars"
};

// A candidate to screen. The engine builds the job and answers duplicates from the store.
struct ScreenCandidate {
  std::string tag;  // unique within the run; comes back with the result
  v1::Sources sources;
  std::string candidate_id;
  std::string node_id;
  std::string parent_candidate_id;
  int64_t call_number = 0;
  int cycle = 0;  // 0, and no node, for a strategy without cycles
  int round = 0;
  int attempt = 0;
};

// A screened candidate to run under a profiler. Its result has a profile, or a reason why not.
struct ProfileCandidate {
  std::string tag;  // that of its screening and kProfileTagEnd
  v1::Sources sources;
  std::string candidate_id;
  std::string workload_uuid;
  std::string architecture;  // of the device that screened it; empty: any
};

// The suffix of the tags of profiles, and of no others.
inline constexpr char kProfileTagEnd[] = "/profile";

// A screened candidate to be examined with cheap tools (JOB_KIND_EXAMINE). The candidate is not
// confirmed before the result has arrived.
struct ExamineCandidate {
  std::string tag;  // ends with kExamineTagEnd
  v1::Sources sources;
  std::string candidate_id;
  std::string architecture;  // of the device that screened it; empty: any
};

// The suffix of the tags of examinations, and of no others.
inline constexpr char kExamineTagEnd[] = "/examine";

// The prefix of the tags of programs that people gave to a run in progress, and of no others.
inline constexpr char kGivenTagStart[] = "given/";

// The tag of the one timing of the task's baseline that a strategy may ask for (JOB_KIND_BASELINE).
inline constexpr char kBaselineTag[] = "baseline";

// The result of processing one input. Everything in it is committed with the strategy's new state,
// and then carried out.
struct StepOutput {
  std::vector<AskModel> asks;
  std::vector<ScreenCandidate> screens;
  std::vector<ProfileCandidate> profiles;
  std::vector<ExamineCandidate> examinations;
  bool times_baseline = false;       // in the run's language; under kBaselineTag
  std::vector<v1::RunEvent> events;  // kind, text, cycle, round, node_id, candidate_id, score
  // Whether the reply that was processed was useful is decided by a later step: a screening of its
  // call, or fruitless_calls.
  bool decided_later = false;
  // Earlier calls whose replies have now turned out to be useless.
  std::vector<int64_t> fruitless_calls;
  bool finished = false;  // nothing more will be requested; reason below
  std::string finish_reason;
  // A finished search continues, because a confirmation refused the program for which it finished.
  bool reopened = false;
  // Finished because something outside the search (the model) failed: the run is FAILED, and
  // Restore can continue it.
  bool failed = false;
};

struct ModelAnswer {
  int64_t call_number = 0;
  // Non-OK: the call failed permanently, with LlmClient's codes.
  absl::Status status;
  LlmReply reply;
};

struct ScreenResult {
  std::string tag;
  v1::JobResult result;
};

// How the confirmation of a screened candidate ended. The loss of its worker does not end it.
struct Confirmation {
  std::string candidate_id;
  std::string rival_id;  // what it had to beat: "baseline", or the candidate id of the incumbent
  v1::JobResult result;
};

// Everything that a strategy knows from the start; constant for a run.
struct SearchContext {
  v1::RunConfig config;  // every default filled in
  v1::Task task;
  std::string kernel_header;    // KernelHeader() of the task
  std::string target_hardware;  // in words, for prompts
  // Programs and results for strategies that keep only ids; shared by the run and its strategy.
  // Null before a run has begun.
  std::shared_ptr<const ProgramShelf> programs;
};

// Decides what to try next. A deterministic state machine without I/O, clock or threads; random
// numbers come from a counter-based generator, seeded by config.seed, whose position is part of the
// state. The same inputs in the same order give the same outputs, so a search resumes exactly from
// a saved state. Thread-compatible; called from one thread.
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;

  // Begins a new search. Called once, unless Restore is called instead.
  virtual StepOutput Start() = 0;
  virtual StepOutput OnAnswer(const ModelAnswer& answer) = 0;
  virtual StepOutput OnScreened(const ScreenResult& result) = 0;
  // Called only for strategies that ask for profiles.
  virtual StepOutput OnProfiled(const ScreenResult& /*result*/) { return {}; }
  // Called only for strategies that ask for examinations or for the baseline's times.
  virtual StepOutput OnExamined(const ScreenResult& /*result*/) { return {}; }
  virtual StepOutput OnBaseline(const ScreenResult& /*result*/) { return {}; }
  // Called for every confirmation that ended, in that order. Nothing more should be built on a
  // program that was refused. Held-out workloads in the result must not reach a model.
  virtual StepOutput OnConfirmed(const Confirmation& /*confirmation*/) { return {}; }
  // Applies a person's edits, or takes a program that a person gives. On an error nothing has
  // changed. INVALID_ARGUMENT lists all errors; FAILED_PRECONDITION: the run has no tree yet, or no
  // longer has one.
  virtual absl::StatusOr<StepOutput> OnSteered(const v1::SteerRunRequest& /*change*/) {
    return absl::FailedPreconditionError(
        "this run's strategy has no world model: the run can be paused, but not edited");
  }
  // Save returns the strategy's complete state, to be passed to Restore of a new object with the
  // same context (rounds may have grown). Restore returns what to do at once (usually nothing,
  // since the engine remembers calls and jobs in flight), or DATA_LOSS if the state is unreadable.
  virtual std::string Save() const = 0;
  virtual absl::StatusOr<StepOutput> Restore(const std::string& state) = 0;
  // Fills rounds_done, cycles, nodes, open_actions, best_screened, candidates, passed.
  virtual void Describe(v1::RunStatus* status) const = 0;
  // The tree; null for strategies that have none. From one step to the next, its nodes and
  // tombstones change only if its revision increases: with a program shelf, Save leaves them to the
  // shelf.
  virtual const v1::WorldModel* world_model() const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SEARCH_STRATEGY_H_
