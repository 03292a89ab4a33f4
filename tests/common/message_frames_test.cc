#include "common/message_frames.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/unique_fd.h"
#include "proto/runner.pb.h"

namespace ksearch {
namespace {

class MessageFramesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ours_.Reset(pair[0]);
    theirs_.Reset(pair[1]);
  }
  absl::StatusCode Send() {
    return SendMessage(ours_.get(), message_, absl::InfiniteFuture()).code();
  }
  absl::StatusCode Receive(absl::Time deadline = absl::InfiniteFuture()) {
    return ReceiveMessage(theirs_.get(), deadline, &message_).code();
  }

  UniqueFd ours_, theirs_;
  v1::VerifierReply message_;
};

TEST_F(MessageFramesTest, MessagesArriveInOrderAndTheEndIsSeen) {
  for (const char* id : {"one", "two"}) {
    message_.set_request_id(id);
    ASSERT_EQ(Send(), absl::StatusCode::kOk);
  }
  ours_.Reset();
  for (const char* id : {"one", "two"}) {
    ASSERT_EQ(Receive(), absl::StatusCode::kOk);
    EXPECT_EQ(message_.request_id(), id);
  }
  EXPECT_EQ(Receive(), absl::StatusCode::kUnavailable);
}

TEST_F(MessageFramesTest, TooLongAFrameIsDataLoss) {
  ASSERT_EQ(::write(ours_.get(), "\xff\xff\xff\xff", 4), 4);
  EXPECT_EQ(Receive(), absl::StatusCode::kDataLoss);
}

TEST_F(MessageFramesTest, AFrameCutShortIsDataLoss) {
  ASSERT_EQ(::write(ours_.get(), "\x05\0\0\0ab", 6), 6);
  ours_.Reset();
  EXPECT_EQ(Receive(), absl::StatusCode::kDataLoss);
}

TEST_F(MessageFramesTest, ALengthCutShortIsDataLoss) {
  ASSERT_EQ(::write(ours_.get(), "\x05\0", 2), 2);
  ours_.Reset();
  EXPECT_EQ(Receive(), absl::StatusCode::kDataLoss);
}

TEST_F(MessageFramesTest, NoSuchMessageIsDataLoss) {
  ASSERT_EQ(::write(ours_.get(), "\x03\0\0\0\xff\xff\xff", 7), 7);
  EXPECT_EQ(Receive(), absl::StatusCode::kDataLoss);
}

TEST_F(MessageFramesTest, SilenceEndsAtTheDeadline) {
  EXPECT_EQ(Receive(absl::InfinitePast()), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(MessageFramesTest, SendingToNobodyIsUnavailable) {
  theirs_.Reset();
  EXPECT_EQ(Send(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ksearch
