#include "gpu_worker/verifier/dialogue/runner_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_worker/verifier/dialogue/trusted_ending.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ExpectedReply Done(int calls) {
  ExpectedReply expected;
  expected.body = v1::RunnerReply::kDone;
  expected.nonce = 77;
  expected.step = 5;
  expected.timings = calls;
  return expected;
}

v1::RunnerReply Honest() {
  v1::RunnerReply reply;
  reply.set_nonce(77);
  reply.set_step(5);
  reply.mutable_done()->add_inner_ns(10);
  reply.mutable_done()->add_inner_ns(20);
  return reply;
}

Ending JudgeMessage(const v1::RunnerReply& reply) {
  v1::RunnerReply parsed;
  return JudgeReply(reply.SerializeAsString(), Done(2), &parsed);
}

TEST(JudgeReplyTest, HonestReplyPasses) {
  v1::RunnerReply parsed;
  EXPECT_TRUE(JudgeReply(Honest().SerializeAsString(), Done(2), &parsed).passed());
  EXPECT_EQ(parsed.done().inner_ns(1), 20u);
}

TEST(JudgeReplyTest, ForgeriesAreCheat) {
  v1::RunnerReply reply = Honest();
  reply.set_nonce(78);
  EXPECT_EQ(JudgeMessage(reply).outcome, v1::OUTCOME_CHEAT);
  reply = Honest();
  reply.set_step(4);
  EXPECT_EQ(JudgeMessage(reply).outcome, v1::OUTCOME_CHEAT);
  reply = Honest();
  reply.mutable_done()->add_inner_ns(1);
  EXPECT_EQ(JudgeMessage(reply).outcome, v1::OUTCOME_CHEAT);
  reply = Honest();
  reply.mutable_hello();
  EXPECT_EQ(JudgeMessage(reply).outcome, v1::OUTCOME_CHEAT);
  v1::RunnerReply parsed;
  EXPECT_EQ(JudgeReply("\xff\xff", Done(2), &parsed).outcome, v1::OUTCOME_CHEAT);
  EXPECT_EQ(JudgeReply("", Done(2), &parsed).outcome, v1::OUTCOME_CHEAT);
  EXPECT_EQ(JudgeReply(std::string(kMaxReplyBytes + 1, '\0'), Done(2), &parsed).outcome,
            v1::OUTCOME_CHEAT);
}

TEST(JudgeReplyTest, ErrorsBecomeOutcomes) {
  using Error = v1::RunnerReply::RunnerError;
  const std::pair<Error::Code, v1::Outcome> cases[] = {
      {Error::LOAD_FAILED, v1::OUTCOME_CHEAT},  // long past
      {Error::CALL_RETURNED_NONZERO, v1::OUTCOME_RUNTIME_ERROR},
      {Error::RAISED, v1::OUTCOME_RUNTIME_ERROR},
      {Error::OUT_OF_MEMORY, v1::OUTCOME_RESOURCE_LIMIT},
      {Error::MAP_FAILED, v1::OUTCOME_RESOURCE_LIMIT},
      {Error::SECCOMP_FAILED, v1::OUTCOME_CHEAT},  // long past
  };
  for (const auto& [code, outcome] : cases) {
    v1::RunnerReply reply = Honest();
    reply.mutable_error()->set_code(code);
    reply.mutable_error()->set_text("why\x1b[31m");
    const Ending ending = JudgeMessage(reply);
    EXPECT_EQ(ending.outcome, outcome);
    EXPECT_THAT(ending.message, ::testing::Not(HasSubstr("\x1b")));
    EXPECT_THAT(ending.message, ::testing::Not(HasSubstr("why")));
  }
}

TEST(JudgeReplyTest, AFailureToLoadMayBeExplained) {
  v1::RunnerReply reply = Honest();
  reply.mutable_error()->set_code(v1::RunnerReply::RunnerError::LOAD_FAILED);
  reply.mutable_error()->set_text("undefined symbol: f\x1b[31m");
  ExpectedReply expected = Done(0);
  expected.body = v1::RunnerReply::kLoaded;
  v1::RunnerReply parsed;
  const Ending ending = JudgeReply(reply.SerializeAsString(), expected, &parsed);
  EXPECT_EQ(ending.outcome, v1::OUTCOME_LOAD_ERROR);
  EXPECT_EQ(ending.message, "undefined symbol: f [31m");
}

// A program that can see inputs could pass them to the reader of its message.
TEST(JudgeReplyTest, AFailingCallSaysNothingInWordsOrNumbersOfItsOwn) {
  const auto message = [](int value, const std::string& text) {
    v1::RunnerReply reply = Honest();
    reply.mutable_error()->set_code(v1::RunnerReply::RunnerError::CALL_RETURNED_NONZERO);
    reply.mutable_error()->set_value(value);
    reply.mutable_error()->set_text(text);
    return JudgeMessage(reply).message;
  };
  EXPECT_EQ(message(77, "inputs: 0.726"), "ksearch_run returned 77 (0 means success)");
  EXPECT_EQ(message(-1081706404, ""), "ksearch_run returned a number beyond 999 (0 means success)");
  EXPECT_EQ(message(700, "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal access): 0.726"),
            "ksearch_run returned 700 (0 means success); among CUDA errors that is "
            "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(message(77, "CUDA_ERROR_INPUTS_ARE_ZERO_POINT_SEVEN"),
            "ksearch_run returned 77 (0 means success)");
}

TEST(JudgeReplyTest, AnExceptionSaysItsKindAndLineAlone) {
  const auto message = [](const std::string& text) {
    v1::RunnerReply reply = Honest();
    reply.mutable_error()->set_code(v1::RunnerReply::RunnerError::RAISED);
    reply.mutable_error()->set_text(text);
    return JudgeMessage(reply).message;
  };
  EXPECT_EQ(
      message("Traceback:\n  File \"kernel.py\", line 3, in run\n  File \"kernel.py\", line 12, "
              "in f\n    x[9]\nIndexError: 0.726 is out of range"),
      "the program raised IndexError at line 12");
  EXPECT_EQ(message("torch.OutOfMemoryError: 0.726"), "the program raised OutOfMemoryError");
  EXPECT_EQ(message("X0726Error: 1, line 123456"), "the program raised an exception");
  EXPECT_EQ(message(""), "the program raised an exception");
  EXPECT_EQ(message("TypeError: 0.726"),
            "the program raised TypeError, but no line of it: it takes other arguments than the "
            "task has, or returns something other than tensors of the outputs' shapes and dtypes");
  EXPECT_EQ(message("ksearch_runner_modules.returning_call.ReturnedShapeError: 0.726"),
            "the program returned a tensor of another shape (or on another device) than the task's "
            "output");
  EXPECT_EQ(message("kernel._ksearch_entry.<locals>.OtherParametersError: 0.726"),
            "the module's parameters or buffers are not those of the task's module, neither by "
            "name and shape nor by order and shape");
}

TEST(JudgeReplyTest, TheWordsOfAnExceptionAreKeptApartFromItsMessage) {
  v1::RunnerReply reply = Honest();
  reply.mutable_error()->set_code(v1::RunnerReply::RunnerError::RAISED);
  reply.mutable_error()->set_text("ValueError: 0.726 \x1b[31m");
  const Ending ending = JudgeMessage(reply);
  EXPECT_EQ(ending.words, "ValueError: 0.726  [31m");
  EXPECT_THAT(ending.message, Not(HasSubstr("0.726")));
  reply.mutable_error()->set_code(v1::RunnerReply::RunnerError::CALL_RETURNED_NONZERO);
  EXPECT_EQ(JudgeMessage(reply).words, "");
  EXPECT_EQ(OwnWords(ending), ending.words);
  EXPECT_EQ(OwnWords(JudgeMessage(reply)), JudgeMessage(reply).message);
}

TEST(JudgeReplyTest, CudaErrorsOfTheDeviceAreKeptApart) {
  const auto judge = [](int value) {
    v1::RunnerReply reply = Honest();
    reply.mutable_error()->set_code(v1::RunnerReply::RunnerError::CUDA_ERROR);
    reply.mutable_error()->set_value(value);
    reply.mutable_error()->set_text("waiting for the calls: CUDA_ERROR_X");
    return JudgeMessage(reply);
  };
  const Ending illegal_address = judge(700);
  EXPECT_EQ(illegal_address.outcome, v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(illegal_address.message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_FALSE(illegal_address.device_failed);
  EXPECT_TRUE(illegal_address.crashed);
  EXPECT_FALSE(judge(701).crashed);  // a launch that needs too many registers
  EXPECT_FALSE(judge(214).crashed);
  EXPECT_EQ(judge(2).outcome, v1::OUTCOME_RESOURCE_LIMIT);
  EXPECT_TRUE(judge(214).device_failed);
  EXPECT_TRUE(judge(46).device_failed);
}

TEST(JudgeReplyTest, HostTimesOutOfTurnAreForged) {
  v1::RunnerReply reply = Honest();
  reply.mutable_done()->add_host_ns(5);
  EXPECT_EQ(JudgeMessage(reply).outcome, v1::OUTCOME_CHEAT);
}

TEST(CleanTextTest, ControlCharactersGoAndLengthIsKept) {
  EXPECT_EQ(CleanText("a\tb\nc\x01\xff", 100), "a b\nc ?");
  EXPECT_EQ(CleanText(std::string(50, 'x'), 20), std::string(14, 'x') + " [...]");
}

}  // namespace
}  // namespace ksearch
