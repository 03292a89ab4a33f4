#ifndef KSEARCH_TESTS_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_DRIVER_H_
#define KSEARCH_TESTS_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_DRIVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/search/attempts/attempt_search.h"
#include "coordinator/search/program_shelf.h"
#include "coordinator/search/search_strategy.h"

namespace ksearch {

// The programs that a run's store would have.
class FakeShelf final : public ProgramShelf {
 public:
  absl::StatusOr<v1::Sources> ReadSources(const std::string& candidate_id) const override;
  absl::StatusOr<v1::JobResult> ReadResult(const std::string& job_id) const override;
  absl::StatusOr<LlmReply> ReadReply(int64_t call_number) const override;
  absl::StatusOr<v1::WorldModel> ReadWorldModel(int64_t revision) const override;

  std::map<std::string, v1::Sources> sources;
  std::map<std::string, v1::JobResult> results;
  std::map<int64_t, LlmReply> replies;
  bool broken = false;  // every read fails
};

// A proposer without prompts: a prompt's text lists what it was built from, and a reply is the
// program itself ("unusable..." has none; text before " | " describes it).
AttemptProposer FakeAttemptProposer();

// The context of a strategy of attempts, for a task with one workload and a baseline in C++.
SearchContext AttemptContext(int rounds, int parallel = 1);

// Runs a strategy of attempts to its end by answering its questions. A program's text determines
// its screening, see FakeScreening in search_driver.h. `pick` chooses the outstanding question that
// is answered next (index below the count; default oldest).
class AttemptDriver {
 public:
  using Make = std::function<std::unique_ptr<SearchStrategy>(const SearchContext&)>;
  using Reply = std::function<std::string(const AskModel&)>;

  AttemptDriver(SearchContext context, Make make, Reply reply);

  std::function<size_t(size_t)> pick = [](size_t) { return size_t{0}; };
  // Makes a call fail permanently by returning a non-OK status.
  std::function<absl::Status(const AskModel&)> fault = [](const AskModel&) {
    return absl::OkStatus();
  };
  // If set, every program that passes its screening is confirmed once, with this outcome.
  std::function<v1::Outcome(const v1::Sources&)> confirm;
  // The outcome of an examination.
  std::function<v1::Outcome(const v1::Sources&)> examine = [](const v1::Sources&) {
    return v1::OUTCOME_PASSED;
  };
  // Returns whether a screening is lost instead of being answered.
  std::function<bool(const std::string& tag)> loses = [](const std::string&) { return false; };
  std::function<void(AttemptDriver&)> after_step = [](AttemptDriver&) {};
  bool restart_before_every_step = false;

  void Start() { Take(strategy_->Start()); }
  bool Step();
  void Run(int max_steps = 10000);
  void Restart(const SearchContext& context);

  v1::AttemptSearchState state() const;
  bool finished() const { return last_.finished; }
  bool failed() const { return last_.failed; }
  const std::string& finish_reason() const { return last_.finish_reason; }
  FakeShelf& shelf() { return *shelf_; }
  SearchStrategy& strategy() { return *strategy_; }
  // "purpose/attempt" of every call.
  std::vector<std::string> Calls() const;

  std::vector<std::string> transcript;  // all output, in order
  std::vector<AskModel> asked;
  std::vector<ScreenCandidate> screened;
  std::vector<v1::RunEvent> events;
  int profiled = 0;
  int examined = 0;
  int baselines_timed = 0;

 private:
  struct Pending {
    std::string what;  // "ask", "screen", "profile", "examine", "baseline", "confirm"
    AskModel ask;
    std::string tag;
    std::string candidate_id;
    v1::Sources sources;
  };
  void Take(StepOutput out);

  SearchContext context_;
  Make make_;
  Reply reply_;
  std::shared_ptr<FakeShelf> shelf_ = std::make_shared<FakeShelf>();
  std::unique_ptr<SearchStrategy> strategy_;
  std::vector<Pending> pending_;
  std::map<std::string, int> confirmed_;
  StepOutput last_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_DRIVER_H_
