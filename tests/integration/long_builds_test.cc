// Builds that take long, on processors that others want to measure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::StartsWith;

// The compiler computes for minutes, each value for a second or less.
constexpr char kTakesMinutes[] = R"(
#include <utility>
#include "ksearch_task.h"
template <int N>
constexpr unsigned Spin() {
  unsigned sum = N;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 100000; ++j) sum = sum * 31 + j;
  }
  return sum;
}
template <int N>
constexpr unsigned value = Spin<N>();
template <int... N>
unsigned Sum(std::integer_sequence<int, N...>) {
  return (value<N> + ...);
}
extern "C" int ksearch_run(const KsearchArgs*) {
  return static_cast<int>(Sum(std::make_integer_sequence<int, 2000>()));
}
)";

TEST(LongBuildsTest, OthersAreMeasuredMeanwhile) {
  LocalCluster cluster;
  cluster.UseOwnDevice();
  cluster.StartCoordinator();
  cluster.StartWorker("w1");
  const std::string source = cluster.folder() + "/long.cpp";
  std::ofstream(source) << kTakesMinutes;
  cluster.Start("long", {cluster.BinaryPath("ksearch"), "--coordinator", cluster.address(), "eval",
                         "--task", "softmax_rows_f32", source});
  ASSERT_TRUE(Eventually([&] { return absl::StrContains(cluster.Log("w1"), "job accepted"); }));
  const CommandOutput other =
      cluster.Cli({"eval", "--task", "softmax_rows_f32",
                   LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")});
  EXPECT_EQ(other.exit.code, 0) << other.out << other.err;
  EXPECT_THAT(other.out, StartsWith("passed"));
  EXPECT_TRUE(cluster.Running("long")) << cluster.Log("long");
}

}  // namespace
}  // namespace ksearch
