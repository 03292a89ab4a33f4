#include "coordinator/store/proposal_rows.h"

#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LlmCallRow Call(const std::string& call_id) {
  LlmCallRow call;
  call.call_id = call_id;
  call.purpose = "action";
  call.node_id = "n1";
  call.attempt = 2;
  call.cycle = 3;
  call.role = "code";
  call.provider = "scripted";
  call.model = "m";
  call.system = "rules";
  call.prompt = "prompt of " + call_id;
  call.max_output_tokens = 32000;
  call.reasoning_effort = "high";
  call.dropped_parts = "lessons";
  call.created = absl::FromUnixMicros(1'700'000'000'000'001);
  return call;
}

CandidateRow Candidate(const std::string& id, const std::string& text) {
  CandidateRow candidate;
  candidate.candidate_id = id;
  candidate.sources = Spec(text).candidate();
  candidate.node_id = "n1";
  candidate.parent_candidate_id = "p";
  candidate.call_id = "r1/1";
  candidate.cycle = 1;
  candidate.round = 2;
  candidate.attempt = 3;
  candidate.job_id = "j1";
  return candidate;
}

class ProposalRowsTest : public StoreTest {
 protected:
  ProposalRowsTest() { NewRun("r1"); }

  absl::Status Commit(std::vector<LlmCallRow> calls, std::vector<CandidateRow> candidates = {},
                      const std::string& run_id = "r1") {
    StepCommit step = Step(run_id);
    step.calls = std::move(calls);
    step.candidates = std::move(candidates);
    return store_->CommitStep(step);
  }
  void Pass(const std::string& run_id, const std::string& candidate_id, double score) {
    StepCommit step = Step(run_id);
    v1::RunEvent& event = step.events.emplace_back();
    event.set_kind(v1::RunEvent::CANDIDATE_PASSED);
    event.set_candidate_id(candidate_id);
    event.set_score(score);
    ASSERT_TRUE(store_->CommitStep(step).ok());
  }
};

TEST_F(ProposalRowsTest, CallIsKeptUnanswered) {
  ASSERT_TRUE(Commit({Call("r1/1"), Call("r1/10"), Call("r1/2")}).ok());
  Reopen();
  const LlmCallRow call = store_->ReadCall("r1/1").value();
  EXPECT_EQ(call.run_id, "r1");
  EXPECT_EQ(call.purpose, "action");
  EXPECT_EQ(call.node_id, "n1");
  EXPECT_EQ(call.attempt, 2);
  EXPECT_EQ(call.cycle, 3);
  EXPECT_EQ(call.role, "code");
  EXPECT_EQ(call.provider, "scripted");
  EXPECT_EQ(call.model, "m");
  EXPECT_EQ(call.prompt, "prompt of r1/1");
  EXPECT_EQ(call.dropped_parts, "lessons");
  EXPECT_EQ(call.system, "rules");
  EXPECT_EQ(call.max_output_tokens, 32000);
  EXPECT_EQ(call.reasoning_effort, "high");
  EXPECT_EQ(call.created, absl::FromUnixMicros(1'700'000'000'000'001));
  EXPECT_FALSE(call.answered);
  std::vector<std::string> unanswered;
  const auto calls = store_->ReadUnansweredCalls("r1");
  for (const LlmCallRow& row : calls.value()) unanswered.push_back(row.call_id);
  EXPECT_THAT(unanswered, ElementsAre("r1/1", "r1/10", "r1/2"));  // in order of creation
  EXPECT_EQ(store_->ReadCall("r1/9").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ProposalRowsTest, ReplyIsRecordedOnceAndArrivesOnce) {
  ASSERT_TRUE(Commit({Call("r1/1")}).ok());
  LlmCallRow reply;
  reply.call_id = "r1/1";
  reply.reply = std::string("code with \0 inside", 18);
  reply.finish_reason = "stop";
  reply.reply_model = "m-2024";
  reply.input_tokens = 11;
  reply.output_tokens = 22;
  reply.replied = absl::FromUnixSeconds(1'700'000'001);
  ASSERT_TRUE(Reply(*store_, reply).ok());
  LlmCallRow second = reply;
  second.reply = "another";
  EXPECT_TRUE(Reply(*store_, second).ok());
  Reopen();
  const LlmCallRow call = store_->ReadCall("r1/1").value();
  EXPECT_TRUE(call.answered);
  EXPECT_EQ(call.reply, reply.reply);
  EXPECT_EQ(call.finish_reason, "stop");
  EXPECT_EQ(call.reply_model, "m-2024");
  EXPECT_EQ(call.input_tokens, 11);
  EXPECT_EQ(call.output_tokens, 22);
  EXPECT_EQ(call.replied, reply.replied);
  EXPECT_EQ(call.error, "");
  EXPECT_EQ(call.prompt, "prompt of r1/1");
  EXPECT_THAT(Arrivals("r1"), ElementsAre("reply r1/1 "));
  EXPECT_THAT(*store_->ReadUnansweredCalls("r1"), IsEmpty());
}

TEST_F(ProposalRowsTest, ProviderStateIsKeptUntilTheReply) {
  ASSERT_TRUE(Commit({Call("r1/1")}).ok());
  const auto save = [&](const std::string& call_id, const std::string& state) {
    return WaitFor<absl::Status>(
        [&](auto done) { store_->SaveProviderState(call_id, state, done); });
  };
  EXPECT_EQ(store_->ReadCall("r1/1")->provider_state, "");
  EXPECT_TRUE(save("r1/1", "resp_1").ok());
  EXPECT_TRUE(save("r1/1", "resp_2").ok());
  EXPECT_EQ(save("r1/9", "x").code(), absl::StatusCode::kNotFound);
  Reopen();
  EXPECT_EQ(store_->ReadUnansweredCalls("r1")->at(0).provider_state, "resp_2");
  LlmCallRow reply;
  reply.call_id = "r1/1";
  reply.reply = "done";
  ASSERT_TRUE(Reply(*store_, reply).ok());
  EXPECT_TRUE(save("r1/1", "late").ok());
  EXPECT_EQ(store_->ReadCall("r1/1")->provider_state, "resp_2");
}

TEST_F(ProposalRowsTest, FinalErrorIsAReply) {
  ASSERT_TRUE(Commit({Call("r1/1")}).ok());
  LlmCallRow reply;
  reply.call_id = "r1/1";
  reply.error = "UNAVAILABLE: no route";
  ASSERT_TRUE(Reply(*store_, reply).ok());
  EXPECT_TRUE(store_->ReadCall("r1/1")->answered);
  EXPECT_EQ(store_->ReadCall("r1/1")->error, "UNAVAILABLE: no route");
  EXPECT_THAT(Arrivals("r1"), ElementsAre("reply r1/1 "));
}

TEST_F(ProposalRowsTest, ReplyToNoCallIsNotFound) {
  LlmCallRow reply;
  reply.call_id = "r1/7";
  EXPECT_EQ(Reply(*store_, reply).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Arrivals("r1"), IsEmpty());
}

TEST_F(ProposalRowsTest, CallIdStandsForOnePrompt) {
  ASSERT_TRUE(Commit({Call("r1/1")}).ok());
  EXPECT_TRUE(Commit({Call("r1/1")}).ok());
  LlmCallRow other = Call("r1/1");
  other.prompt = "something else";
  EXPECT_EQ(Commit({other}).code(), absl::StatusCode::kFailedPrecondition);
  LlmCallRow foreign = Call("r1/2");
  foreign.run_id = "r2";
  EXPECT_EQ(Commit({foreign}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ProposalRowsTest, CandidateIsReadBackWhole) {
  ASSERT_TRUE(Commit({}, {Candidate("c1", "int x;")}).ok());
  Reopen();
  const CandidateRow read = store_->ReadCandidate("r1", "c1").value();
  EXPECT_EQ(read.run_id, "r1");
  EXPECT_EQ(read.sources.files(0).content(), "int x;");
  EXPECT_EQ(read.node_id, "n1");
  EXPECT_EQ(read.parent_candidate_id, "p");
  EXPECT_EQ(read.call_id, "r1/1");
  EXPECT_EQ(read.cycle, 1);
  EXPECT_EQ(read.round, 2);
  EXPECT_EQ(read.attempt, 3);
  EXPECT_EQ(read.job_id, "j1");
  EXPECT_EQ(read.score, -1);
}

TEST_F(ProposalRowsTest, SameTextOfTwoRunsKeepsEachRunsFacts) {
  NewRun("r2");
  ASSERT_TRUE(Commit({}, {Candidate("c1", "int x;")}).ok());
  CandidateRow other = Candidate("c1", "int x;");
  other.node_id = "n7";
  ASSERT_TRUE(Commit({}, {other}, "r2").ok());
  other.node_id = "n8";
  ASSERT_TRUE(Commit({}, {other}, "r2").ok());  // proposed again: the first one stays
  EXPECT_EQ(store_->ReadCandidate("r1", "c1")->node_id, "n1");
  EXPECT_EQ(store_->ReadCandidate("r2", "c1")->node_id, "n7");
  EXPECT_EQ(store_->ListCandidates("r2")->size(), 1u);
}

TEST_F(ProposalRowsTest, ScoreIsTheLatestPassOfThisRun) {
  NewRun("r2");
  ASSERT_TRUE(Commit({}, {Candidate("c1", "a"), Candidate("c2", "b")}).ok());
  ASSERT_TRUE(Commit({}, {Candidate("c1", "a")}, "r2").ok());
  Pass("r1", "c1", 1.5);
  Pass("r1", "c1", 1.25);
  Pass("r2", "c1", 9);
  EXPECT_EQ(store_->ReadCandidate("r1", "c1")->score, 1.25);
  EXPECT_EQ(store_->ReadCandidate("r2", "c1")->score, 9);
  const std::vector<CandidateRow> all = store_->ListCandidates("r1").value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].candidate_id, "c1");
  EXPECT_EQ(all[0].score, 1.25);
  EXPECT_EQ(all[1].candidate_id, "c2");
  EXPECT_EQ(all[1].score, -1);
}

TEST_F(ProposalRowsTest, CandidateIsFoundByUniquePrefix) {
  ASSERT_TRUE(Commit({}, {Candidate("abc1", "a"), Candidate("abd2", "b")}).ok());
  EXPECT_EQ(store_->ReadCandidate("r1", "abd")->candidate_id, "abd2");
  EXPECT_EQ(store_->ReadCandidate("r1", "x").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->ReadCandidate("r1", "").status().code(), absl::StatusCode::kInvalidArgument);
  const absl::Status ambiguous = store_->ReadCandidate("r1", "ab").status();
  EXPECT_EQ(ambiguous.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ambiguous.message()), HasSubstr("abd2"));
}

}  // namespace
}  // namespace ksearch
