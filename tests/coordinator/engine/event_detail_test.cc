#include "coordinator/engine/event_detail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using testing::ElementsAre;

class EventDetailTest : public testing::Test {
 protected:
  EventDetailTest() {
    RunRow row;
    row.run_id = "run";
    EXPECT_TRUE(store_.CreateRun(row).ok());
    LlmCallRow call;
    call.call_id = "run/1";
    call.run_id = "run";
    call.role = "code";
    call.provider = "p";
    call.model = "m";
    call.created = absl::FromUnixSeconds(100);
    StepCommit step;
    step.run_id = "run";
    step.calls.push_back(call);
    step.candidates.push_back(Candidate("c1", "c0"));
    EXPECT_TRUE(store_.CommitStep(step).ok());
    call.replied = absl::FromUnixSeconds(107);
    call.input_tokens = 30;
    call.output_tokens = 4;
    call.cost_nano = 5000;
    call.answered = true;
    store_.RecordReply(call, [](const absl::Status& status) { EXPECT_TRUE(status.ok()); });
    status_.set_run_id("run");
  }

  static CandidateRow Candidate(const std::string& id, const std::string& parent) {
    CandidateRow row;
    row.run_id = "run";
    row.candidate_id = id;
    row.parent_candidate_id = parent;
    row.call_id = "run/1";
    row.attempt = 2;
    row.sources.set_language(v1::LANGUAGE_CPP);
    return row;
  }
  static v1::JobResult Timed(const std::string& job_id) {
    v1::JobResult result;
    result.set_job_id(job_id);
    result.set_outcome(v1::OUTCOME_PASSED);
    result.set_worker_id("w1");
    result.mutable_device()->set_name("NVIDIA H200");
    result.mutable_stage_times()->mutable_device_held()->set_seconds(3);
    for (const double median : {4.0, 16.0}) {
      v1::WorkloadResult* workload = result.add_workloads();
      workload->mutable_candidate()->set_median_us(median);
      workload->mutable_baseline()->set_median_us(16.0);
    }
    return result;
  }
  v1::RunEvent Fill(v1::RunEvent::Kind kind, const std::string& candidate_id,
                    const std::string& job_id, const std::string& node_id = "") {
    v1::RunEvent event;
    event.set_kind(kind);
    event.set_candidate_id(candidate_id);
    event.set_job_id(job_id);
    event.set_node_id(node_id);
    FillEventDetail(&store_, {&cause_, &candidates_, &model_, &status_}, &event);
    return event;
  }

  FakeStore store_;
  StepCause cause_;
  std::vector<CandidateRow> candidates_;
  v1::WorldModel model_;
  v1::RunStatus status_;
};

TEST_F(EventDetailTest, JudgedCandidateHasResultParentsAndWhatItsCallTook) {
  cause_.result = Timed("j1");
  const v1::RunEvent event = Fill(v1::RunEvent::CANDIDATE_PASSED, "c1", "j1", "n1");
  const v1::CandidateDetail& detail = event.candidate();
  EXPECT_THAT(detail.parent_ids(), ElementsAre("c0"));
  EXPECT_EQ(detail.attempt(), 2);
  EXPECT_EQ(detail.outcome(), v1::OUTCOME_PASSED);
  EXPECT_DOUBLE_EQ(detail.latency_us(), 8);
  EXPECT_DOUBLE_EQ(detail.speedup(), 2);
  EXPECT_EQ(detail.device_time().seconds(), 3);
  EXPECT_EQ(detail.device_name(), "NVIDIA H200");
  EXPECT_EQ(detail.worker_id(), "w1");
  EXPECT_EQ(event.call().call_id(), "run/1");
  EXPECT_EQ(event.call().model(), "m");
  EXPECT_EQ(event.call().input_tokens(), 30);
  EXPECT_EQ(event.call().output_tokens(), 4);
  EXPECT_EQ(event.call().nano_usd(), 5000);
  EXPECT_EQ(event.call().took().seconds(), 7);
}

TEST_F(EventDetailTest, ProposedCandidateIsKnownFromTheStepThatAddsIt) {
  candidates_.push_back(Candidate("new", ""));
  const v1::RunEvent event = Fill(v1::RunEvent::CANDIDATE_PROPOSED, "new", "");
  EXPECT_EQ(event.candidate().parent_ids_size(), 0);
  EXPECT_EQ(event.candidate().outcome(), v1::OUTCOME_UNSPECIFIED);
  EXPECT_EQ(event.candidate().language(), v1::LANGUAGE_CPP);
  EXPECT_EQ(event.call().call_id(), "run/1");
}

TEST_F(EventDetailTest, ConfirmationIsOfTheIncumbentIfThereIsOne) {
  v1::JobResult result = Timed("j2");
  const auto compare = [&](const std::string& rival, double log_speedup) {
    v1::Comparison* comparison = result.add_comparisons();
    comparison->set_rival_id(rival);
    comparison->set_verdict(v1::Comparison::IMPROVED);
    comparison->set_log_speedup(log_speedup);
  };
  compare("c0", 0);
  compare("baseline", 1);
  cause_.result = result;
  const v1::RunEvent event = Fill(v1::RunEvent::NEW_INCUMBENT, "c1", "j2");
  EXPECT_EQ(event.confirmation().rival_id(), "c0");
  EXPECT_EQ(event.confirmation().verdict(), v1::Comparison::IMPROVED);
  EXPECT_DOUBLE_EQ(event.confirmation().speedup(), 1);
  EXPECT_NEAR(event.confirmation().over_baseline(), 2.718, 0.001);
  EXPECT_THAT(event.confirmation().parent_ids(), ElementsAre("c0"));
}

TEST_F(EventDetailTest, ConfirmationThatStartsNamesItsRival) {
  EXPECT_EQ(Fill(v1::RunEvent::CONFIRMATION_STARTED, "c1", "").confirmation().rival_id(),
            "baseline");
  status_.mutable_best()->set_candidate_id("c0");
  EXPECT_EQ(Fill(v1::RunEvent::CONFIRMATION_STARTED, "c1", "").confirmation().rival_id(), "c0");
}

TEST_F(EventDetailTest, NodeHasItsPlaceInTheTreeAndTheCallThatLedToIt) {
  cause_.call = store_.ReadCall("run/1").value();
  v1::Node* node = model_.add_nodes();
  node->set_node_id("n1");
  node->set_parent_id("root");
  node->mutable_action()->set_title("tile it");
  node->mutable_action()->set_score(0.8);
  const v1::RunEvent event = Fill(v1::RunEvent::NODE_INSERTED, "", "", "n1");
  EXPECT_EQ(event.node().parent_node_id(), "root");
  EXPECT_EQ(event.node().title(), "tile it");
  EXPECT_DOUBLE_EQ(event.node().score(), 0.8);
  EXPECT_FALSE(event.node().gone());
  EXPECT_EQ(event.call().call_id(), "run/1");
  EXPECT_TRUE(Fill(v1::RunEvent::NODE_PRUNED, "", "", "n2").node().gone());
}

TEST_F(EventDetailTest, EventsOfTheRunHaveItsTotals) {
  status_.set_rounds_done(3);
  status_.mutable_ledger()->add_lines()->set_nano_usd_spent(7);
  const v1::RunEvent event = Fill(v1::RunEvent::BUDGET_WARNING, "", "");
  EXPECT_EQ(event.run().rounds_done(), 3);
  EXPECT_EQ(event.run().nano_usd(), 7);
  EXPECT_FALSE(event.has_call());
}

TEST_F(EventDetailTest, JudgedCandidatesComeWithTheTotalsOfTheirRun) {
  status_.set_state(v1::RUN_STATE_RUNNING);
  status_.set_rounds_done(3);
  status_.set_input_tokens(70);
  status_.mutable_ledger()->mutable_gpu_time()->set_seconds(5);
  cause_.result = Timed("j1");
  const v1::RunEvent event = Fill(v1::RunEvent::CANDIDATE_PASSED, "c1", "j1");
  EXPECT_EQ(event.totals().rounds_done(), 3);
  EXPECT_EQ(event.totals().input_tokens(), 70);
  EXPECT_EQ(event.totals().device_time().seconds(), 5);
  EXPECT_EQ(event.totals().state(), v1::RUN_STATE_UNSPECIFIED);
  EXPECT_TRUE(event.has_candidate());
  EXPECT_FALSE(Fill(v1::RunEvent::CANDIDATE_PROPOSED, "c1", "").has_totals());
}

TEST_F(EventDetailTest, WhatIsNotInTheStoreIsLeftOut) {
  const v1::RunEvent event = Fill(v1::RunEvent::CANDIDATE_FAILED, "nobody", "nothing");
  EXPECT_TRUE(event.has_candidate());
  EXPECT_FALSE(event.has_call());
}

}  // namespace
}  // namespace ksearch
