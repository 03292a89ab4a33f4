#include "gpu_worker/verifier/request_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/unique_fd.h"
#include "gpu_worker/verifier/byte_lru.h"
#include "proto/runner.pb.h"

namespace ksearch {
namespace {

class FrameTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ours_.Reset(pair[0]);
    theirs_.Reset(pair[1]);
  }
  UniqueFd ours_, theirs_;
};

TEST_F(FrameTest, MessagesArriveInOrderAndTheEndIsSeen) {
  v1::VerifierReply reply;
  for (const char* id : {"one", "two"}) {
    reply.set_request_id(id);
    ASSERT_TRUE(WriteFrame(ours_.get(), reply).ok());
  }
  ours_.Reset();
  for (const char* id : {"one", "two"}) {
    ASSERT_TRUE(ReadFrame(theirs_.get(), &reply).value());
    EXPECT_EQ(reply.request_id(), id);
  }
  EXPECT_FALSE(ReadFrame(theirs_.get(), &reply).value());
}

TEST_F(FrameTest, BrokenFramesAreDataLoss) {
  v1::VerifierReply reply;
  ASSERT_EQ(::write(ours_.get(), "\xff\xff\xff\xff", 4), 4);
  EXPECT_EQ(ReadFrame(theirs_.get(), &reply).status().code(), absl::StatusCode::kDataLoss);
  ASSERT_EQ(::write(ours_.get(), "\x05\0\0\0ab", 6), 6);
  ours_.Reset();
  EXPECT_EQ(ReadFrame(theirs_.get(), &reply).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(FrameTest, WritingToNobodyIsUnavailable) {
  theirs_.Reset();
  EXPECT_EQ(WriteFrame(ours_.get(), v1::VerifierReply()).code(), absl::StatusCode::kUnavailable);
}

TEST(ByteLruTest, DropsWhatWasUsedLongestAgo) {
  ByteLru<int> lru(10);
  lru.Insert("a", std::make_shared<int>(1), 4);
  lru.Insert("b", std::make_shared<int>(2), 4);
  EXPECT_NE(lru.Find("a"), nullptr);
  lru.Insert("c", std::make_shared<int>(3), 5);
  EXPECT_EQ(lru.Find("b"), nullptr);
  EXPECT_EQ(*lru.Find("a"), 1);
  lru.Insert("a", std::make_shared<int>(9), 1);
  EXPECT_EQ(*lru.Find("a"), 9);
  EXPECT_EQ(lru.bytes(), 6);
  lru.Insert("huge", std::make_shared<int>(4), 11);
  EXPECT_EQ(lru.Find("huge"), nullptr);
  EXPECT_NE(lru.Find("c"), nullptr);
}

}  // namespace
}  // namespace ksearch
