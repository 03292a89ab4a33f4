#ifndef KSEARCH_TESTS_COORDINATOR_ENGINE_SEARCH_RUN_FIXTURE_H_
#define KSEARCH_TESTS_COORDINATOR_ENGINE_SEARCH_RUN_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/engine/search_run.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_llm_client.h"
#include "tests/fakes/fake_store.h"
#include "tests/fakes/fake_strategy.h"

namespace ksearch {

// Answers every job at once: candidate n is n times as fast as the baseline, and every confirmation
// says "improved".
class InstantWorkers final : public JobSink {
 public:
  explicit InstantWorkers(Store* store) : store_(store) {}

  void Submit(const std::string& /*run_id*/, const std::string& job_id,
              const v1::JobSpec& spec) override {
    ++submitted_[job_id];
    if (hold_) {
      held_.emplace_back(job_id, spec);
      return;
    }
    Record(job_id, spec);
  }
  void CancelQueued(const std::string& job_id) override {
    held_.erase(std::remove_if(held_.begin(), held_.end(),
                               [&](const auto& held) { return held.first == job_id; }),
                held_.end());
  }
  void Hold(bool hold) {
    hold_ = hold;
    if (hold) return;
    for (const auto& [id, spec] : std::exchange(held_, {})) Record(id, spec);
  }
  // From now on every job is lost with its workers.
  void Lose(bool lose) { ending_ = lose ? std::optional(v1::OUTCOME_WORKER_LOST) : std::nullopt; }
  // From now on every job finds its task at fault.
  void FindTaskAtFault() { ending_ = v1::OUTCOME_TASK_ERROR; }
  // Examinations refuse this program.
  void Refuse(std::string content) { refused_ = std::move(content); }
  void MayProfile(bool may) { may_profile_ = may; }
  int profiles() const { return profiles_; }
  // Programs that were confirmed, in order.
  const std::vector<std::string>& confirmed() const { return confirmed_; }
  const std::map<std::string, int>& submitted() const { return submitted_; }

 private:
  void Record(const std::string& job_id, const v1::JobSpec& spec) {
    v1::JobResult result;
    result.set_job_id(job_id);
    result.set_attempt(1);
    if (ending_.has_value()) {
      result.set_outcome(*ending_);
      result.set_message("reference.cpp:3: no such thing");
      store_->RecordResult(result, "", [](auto) {});
      return;
    }
    result.set_outcome(v1::OUTCOME_PASSED);
    if (spec.kind() == v1::JOB_KIND_CONFIRM) {
      confirmed_.push_back(spec.candidate().files(0).content());
    }
    if (spec.kind() == v1::JOB_KIND_EXAMINE) {
      if (spec.candidate().files(0).content() == refused_) {
        result.set_outcome(v1::OUTCOME_INCORRECT);
      }
      store_->RecordResult(result, "lease", [](auto) {});
      return;
    }
    if (spec.kind() == v1::JOB_KIND_PROFILE) {
      ++profiles_;
      if (may_profile_) {
        result.mutable_profile()->add_kernels()->set_name("k");
      } else {
        result.mutable_profile()->set_absence(v1::Profile::NOT_PERMITTED);
      }
      result.mutable_stage_times()->mutable_device_held()->set_seconds(10);
      store_->RecordResult(result, "lease", [](auto) {});
      return;
    }
    result.mutable_stage_times()->mutable_device_held()->set_seconds(1);
    v1::WorkloadResult* workload = result.add_workloads();
    workload->mutable_candidate()->set_median_us(100.0 /
                                                 std::stoi(spec.candidate().files(0).content()));
    workload->mutable_baseline()->set_median_us(100.0);
    for (const v1::Rival& rival : spec.rivals()) {
      v1::Comparison* comparison = result.add_comparisons();
      comparison->set_rival_id(rival.rival_id());
      comparison->set_verdict(v1::Comparison::IMPROVED);
      comparison->set_log_speedup(0.7);
    }
    store_->RecordResult(result, "lease", [](auto) {});
  }

  Store* const store_;
  bool hold_ = false;
  std::optional<v1::Outcome> ending_;
  std::string refused_;
  std::vector<std::string> confirmed_;
  bool may_profile_ = true;
  int profiles_ = 0;
  std::vector<std::pair<std::string, v1::JobSpec>> held_;
  std::map<std::string, int> submitted_;
};

class SearchRunTest : public testing::Test {
 protected:
  SearchRunTest() : workers_(&store_) {
    row_.run_id = "run";
    row_.request_id = "request";
    row_.config.set_provider("p");
    row_.config.set_rounds(6);
    row_.status.set_state(v1::RUN_STATE_RUNNING);
    EXPECT_TRUE(store_.CreateRun(row_).ok());
    store_.SetArrivalListener([this](const std::string&) {
      MutexLock lock(&mu_);
      ++arrivals_;
      changed_.NotifyAll();
    });
    NewModels();
  }

  // Simulates a restart: everything except store and workers is recreated.
  void NewModels(ModelCaller::Options options = {}) {
    models_.reset();
    auto client = std::make_unique<FakeLlmClient>();
    client_ = client.get();
    // The reply is the number of the question.
    client->AnswerWith([this](const LlmRequest& request) {
      MutexLock lock(&mu_);
      ++asked_[request.user];
      changed_.NotifyAll();
      return FakeLlmClient::Text(request.user.substr(9));
    });
    std::vector<ModelCaller::Provider> providers;
    providers.push_back({"p", "m", std::move(client), absl::OkStatus()});
    models_ = std::make_unique<ModelCaller>(&store_, clock_, std::move(providers), options);
  }

  std::unique_ptr<SearchRun> NewRun(int rounds = 6, std::vector<std::string> order = {},
                                    const std::string& run_id = "run") {
    const auto row = store_.ReadRun(run_id);
    EXPECT_TRUE(row.ok());
    SearchContext context;
    context.config = row->config;
    context.config.set_rounds(rounds);
    if (budget_.has_value()) *context.config.mutable_budget() = *budget_;
    context.task.mutable_workloads()->Add()->set_uuid("w");
    auto strategy = std::make_unique<FakeStrategy>(rounds, 2, profiles_);
    strategy->NoteConfirmationsIn(&told_);
    if (examines_) strategy->ExamineAll();
    auto run = SearchRun::Create({&store_, jobs_, models_.get(), &clock_, platforms_}, *row,
                                 context, std::move(strategy), std::move(order));
    EXPECT_TRUE(run.ok()) << run.status();
    return *std::move(run);
  }

  v1::RunEngineState State(const std::string& run_id = "run") {
    v1::RunEngineState state;
    EXPECT_TRUE(state.ParseFromString(store_.ReadRun(run_id)->state));
    return state;
  }

  int arrivals() {
    MutexLock lock(&mu_);
    return arrivals_;
  }
  void AwaitArrivals(int more_than) {
    MutexLock lock(&mu_);
    while (arrivals_ <= more_than) changed_.Wait(&mu_);
  }

  // Folds until the run ends.
  void RunToEnd(SearchRun* run) {
    while (true) {
      const int seen = arrivals();
      const auto progress = run->ApplyNext();
      ASSERT_TRUE(progress.ok()) << progress.status();
      if (*progress == SearchRun::Progress::kEnded) return;
      if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
    }
  }

  // The same, but killed after every step.
  void RunToEndInLivesOfOneStep() {
    for (int life = 0; life < 200; ++life) {
      const int seen = arrivals();
      const auto run = NewRun();
      ASSERT_TRUE(run->Begin().ok());
      const auto progress = run->ApplyNext();
      ASSERT_TRUE(progress.ok()) << progress.status();
      if (*progress == SearchRun::Progress::kEnded) return;
      if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
      // The object is destroyed here, and the next one has only the store. Calls in flight are
      // answered by the store's record, not sent again, because the caller outlives the run.
    }
    FAIL() << "the run does not end";
  }

  std::multiset<std::string> EventTexts() {
    std::multiset<std::string> texts;
    const auto events = store_.ReadEvents("run", 0, 1000);
    for (const v1::RunEvent& event : *events) {
      if (event.kind() == v1::RunEvent::CANDIDATE_PASSED) texts.insert(event.text());
    }
    return texts;
  }

  std::vector<std::string> told_;     // confirmations that strategies were told
  bool profiles_ = false;             // of the strategies made from now on
  bool examines_ = false;             // the same
  std::optional<v1::Budget> budget_;  // in force for runs made from now on
  FakeClock clock_;
  FakeStore store_;
  InstantWorkers workers_;
  JobSink* jobs_ = &workers_;
  PlatformSource platforms_ = nullptr;
  FakeLlmClient* client_ = nullptr;
  std::unique_ptr<ModelCaller> models_;
  RunRow row_;
  Mutex mu_;
  CondVar changed_;
  int arrivals_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::string, int> asked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_ENGINE_SEARCH_RUN_FIXTURE_H_
