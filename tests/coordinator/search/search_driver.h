#ifndef KSEARCH_TESTS_COORDINATOR_SEARCH_SEARCH_DRIVER_H_
#define KSEARCH_TESTS_COORDINATOR_SEARCH_SEARCH_DRIVER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/search/call_builder.h"
#include "coordinator/search/search_strategy.h"
#include "coordinator/search/world_model_strategy.h"

namespace ksearch {

// A proposer without prompts: a prompt's text lists what it was built from, a code reply is the
// program itself ("unusable..." has none), and an edit reply is an EditScript in textproto.
Proposer FakeProposer();

// A prompt's text lists what it was built from; a reply is the plan ("unusable..." has none).
JudgeProposer FakeJudge();

// A context with one feedback workload in preset `paper` or default.
SearchContext TestContext(bool paper, int rounds, int parallel = 1);

// The result of screening a program whose text ends in " score=<x>" or " fail"; its latency is
// 100 us / x, and "floor=<us> " in the text sets its floor.
v1::JobResult FakeScreening(const v1::Sources& sources);

// The trees that a run's store keeps of a search: one for each revision at the end of a step.
class TreeShelf final : public ProgramShelf {
 public:
  absl::StatusOr<v1::Sources> ReadSources(const std::string& candidate_id) const override;
  absl::StatusOr<v1::JobResult> ReadResult(const std::string& job_id) const override;
  absl::StatusOr<LlmReply> ReadReply(int64_t call_number) const override;
  absl::StatusOr<v1::WorldModel> ReadWorldModel(int64_t revision) const override;

  // Like the engine, does not keep a tree with the same revision as the last one.
  void Keep(const v1::WorldModel& tree);

 private:
  std::map<int64_t, v1::WorldModel> trees_;
  int64_t last_ = 0;
};

// Runs a strategy to its end by answering its questions. Replies come from `reply`; `pick` chooses
// the outstanding question that is answered next (index below the count; default oldest).
class SearchDriver {
 public:
  using Reply = std::function<std::string(const AskModel&)>;

  SearchDriver(SearchContext context, Reply reply)
      : context_(std::move(context)), reply_(std::move(reply)) {
    context_.programs = shelf_;
    strategy_ = std::make_unique<WorldModelStrategy>(context_, FakeProposer());
  }

  std::function<size_t(size_t)> pick = [](size_t) { return size_t{0}; };
  // Makes a call fail permanently by returning a non-OK status.
  std::function<absl::Status(const AskModel&)> fault = [](const AskModel&) {
    return absl::OkStatus();
  };
  std::function<v1::JobResult(const ScreenCandidate&)> screen =
      [](const ScreenCandidate& candidate) { return FakeScreening(candidate.sources); };
  std::function<v1::JobResult(const ProfileCandidate&)> profile = [](const ProfileCandidate&) {
    v1::JobResult result;
    result.set_outcome(v1::OUTCOME_PASSED);
    v1::KernelProfile* kernel = result.mutable_profile()->add_kernels();
    kernel->set_name("decode");
    kernel->set_share(1);
    return result;
  };
  // The result of an examination; by default without findings.
  std::function<v1::JobResult(const ExamineCandidate&)> examine = [](const ExamineCandidate&) {
    v1::JobResult result;
    result.set_outcome(v1::OUTCOME_PASSED);
    result.mutable_sanitizer()->mutable_time()->set_seconds(1);
    return result;
  };
  // The result of timing the baseline.
  v1::JobResult baseline;
  // If set, every program that passes its screening is confirmed once, with this outcome.
  std::function<v1::Outcome(const v1::Sources&)> confirm;
  // Called after every step.
  std::function<void(SearchDriver&)> after_step = [](SearchDriver&) {};
  // Discards the strategy and restores it from its saved state before every step.
  bool restart_before_every_step = false;

  void Start() { Take(strategy_->Start()); }
  // Answers one question; false if none is outstanding.
  bool Step();
  // Runs until finished or nothing is outstanding; gives up after `max_steps`.
  void Run(int max_steps = 10000);
  // Ends a confirmation: with an improvement if it passed, else refused with `message`.
  void Confirm(const std::string& candidate_id, v1::Outcome outcome,
               const std::string& message = "");
  // Applies a person's change and performs the resulting actions.
  absl::Status Steer(const v1::SteerRunRequest& change);
  // Replaces the strategy by one restored from its state, in `context`.
  void Restart(const SearchContext& context);

  WorldModelStrategy& strategy() { return *strategy_; }
  const v1::WorldModel& tree() { return *strategy_->world_model(); }
  v1::SearchState state() const;
  bool finished() const { return last_.finished; }
  bool failed() const { return last_.failed; }
  const std::string& finish_reason() const { return last_.finish_reason; }
  size_t outstanding() const {
    return asks_.size() + screens_.size() + profiles_.size() + examinations_.size() +
           (awaits_baseline_ ? 1 : 0) + confirmations_.size();
  }

  // All output, in order.
  std::vector<std::string> transcript;
  std::vector<AskModel> asked;
  std::vector<ScreenCandidate> screened;
  std::vector<ProfileCandidate> profiled;
  std::vector<ExamineCandidate> examined;
  int baselines_timed = 0;
  std::vector<v1::RunEvent> events;

  // "purpose/node/attempt" of every call, in order; only those of `role` if given.
  std::vector<std::string> Calls(const std::string& role = "") const;
  int CountEvents(v1::RunEvent::Kind kind) const;
  const v1::RunEvent* FindEvent(v1::RunEvent::Kind kind) const;

 private:
  void Take(StepOutput out);

  const std::shared_ptr<TreeShelf> shelf_ = std::make_shared<TreeShelf>();
  SearchContext context_;
  Reply reply_;
  std::unique_ptr<WorldModelStrategy> strategy_;
  std::vector<AskModel> asks_;
  std::vector<ScreenCandidate> screens_;
  std::vector<ProfileCandidate> profiles_;
  std::vector<ExamineCandidate> examinations_;
  bool awaits_baseline_ = false;
  std::vector<ScreenCandidate> confirmations_;
  std::set<std::string> confirmed_;
  StepOutput last_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_SEARCH_SEARCH_DRIVER_H_
