#include "coordinator/scheduler/lease_table.h"

#include "gtest/gtest.h"

namespace ksearch {
namespace {

Lease Make(const std::string& id, const std::string& worker, absl::Time expiry) {
  Lease lease;
  lease.lease_id = id;
  lease.worker_id = worker;
  lease.expiry = expiry;
  return lease;
}

TEST(LeaseTableTest, ExpiresAtItsTimeAndNotBefore) {
  const absl::Time t0 = absl::UnixEpoch();
  LeaseTable leases;
  leases.Add(Make("a", "w", t0 + absl::Seconds(30)));
  leases.Add(Make("b", "w", t0 + absl::Seconds(31)));
  EXPECT_TRUE(leases.Expired(t0 + absl::Seconds(29)).empty());
  EXPECT_EQ(leases.Expired(t0 + absl::Seconds(30)), std::vector<std::string>{"a"});
  leases.Find("a")->expiry = t0 + absl::Seconds(60);
  EXPECT_TRUE(leases.Expired(t0 + absl::Seconds(30)).empty());
}

TEST(LeaseTableTest, KnowsTheLeasesOfEachWorker) {
  LeaseTable leases;
  leases.Add(Make("a", "w1", absl::UnixEpoch()));
  leases.Add(Make("b", "w2", absl::UnixEpoch()));
  leases.Add(Make("c", "w1", absl::UnixEpoch()));
  EXPECT_EQ(leases.IdsOf("w1"), (std::set<std::string>{"a", "c"}));
  leases.Remove("a");
  leases.Remove("a");
  EXPECT_EQ(leases.IdsOf("w1"), std::set<std::string>{"c"});
  EXPECT_EQ(leases.Find("a"), nullptr);
  EXPECT_TRUE(leases.IdsOf("nobody").empty());
}

}  // namespace
}  // namespace ksearch
