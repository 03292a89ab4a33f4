#include "coordinator/engine/arrival_order.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

Arrival Reply(int64_t seq, const std::string& call_id) {
  return {seq, Arrival::Kind::kReply, call_id, ""};
}
Arrival Result(int64_t seq, const std::string& tag) {
  return {seq, Arrival::Kind::kResult, "job-id", tag};
}

TEST(ArrivalOrderTest, KeysDoNotNameTheRun) {
  EXPECT_EQ(ArrivalKey(Reply(1, "matmul-1a2b3c/17")), "call/17");
  EXPECT_EQ(ArrivalKey(Result(1, "screen/3/2")), "job/screen/3/2");
}

TEST(ArrivalOrderTest, WithoutARecordOrderIsNatural) {
  ArrivalOrder order({}, 0);
  EXPECT_EQ(order.Next({}, {}), std::nullopt);
  EXPECT_EQ(order.Next({Reply(4, "r/2"), Reply(5, "r/1")}, {"call/1", "call/2"}), 0u);
}

TEST(ArrivalOrderTest, WaitsForTheRecordedOne) {
  ArrivalOrder order({"call/1", "call/2", "job/a"}, 0);
  EXPECT_EQ(order.Next({Reply(4, "r/2")}, {"call/1", "call/2"}), std::nullopt);
  EXPECT_EQ(order.Next({Reply(4, "r/2"), Reply(5, "r/1")}, {"call/1", "call/2"}), 1u);
  EXPECT_EQ(order.Next({Reply(4, "r/2")}, {"call/2", "job/a"}), 0u);
  EXPECT_EQ(order.position(), 2);
}

TEST(ArrivalOrderTest, RecordedKeysNeverAskedForAreSkipped) {
  ArrivalOrder order({"job/confirm/1", "call/2"}, 0);
  EXPECT_EQ(order.Next({Reply(4, "r/2")}, {"call/2"}), 0u);
}

TEST(ArrivalOrderTest, AfterTheRecordOrderIsNatural) {
  ArrivalOrder order({"call/1"}, 1);
  EXPECT_EQ(order.Next({Reply(9, "r/7")}, {"call/7"}), 0u);
}

}  // namespace
}  // namespace ksearch
