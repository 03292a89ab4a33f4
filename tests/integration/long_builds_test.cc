// Builds that take long, on processors that others want to measure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/textproto.h"
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

class LongBuildsTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.UseOwnDevice();
    cluster_.StartCoordinator();
    cluster_.StartWorker("w1");
    name_ = absl::StrCat("takes_minutes_", ::getpid(), ".cpp");
    std::ofstream(cluster_.folder() + "/" + name_) << kTakesMinutes;
    StartEval("long", cluster_.folder() + "/" + name_);
    ASSERT_TRUE(Eventually([&] { return Compiles(); })) << cluster_.Log("w1");
  }
  void StartEval(const std::string& name, const std::string& source) {
    cluster_.Start(name, {cluster_.BinaryPath("ksearch"), "--coordinator", cluster_.address(),
                          "eval", "--task", "softmax_rows_f32", source});
  }
  // Returns true if a process of the long build exists, stopped or not.
  bool Compiles() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
      const auto line = ReadFile(entry.path().string() + "/cmdline", 1 << 20);
      if (line.ok() && absl::StrContains(*line, "cc1plus") && absl::StrContains(*line, name_)) {
        return true;
      }
    }
    return false;
  }

  const std::string baseline_ =
      LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp");
  LocalCluster cluster_;
  std::string name_;  // of the long build's source
};

TEST_F(LongBuildsTest, OthersAreMeasuredMeanwhile) {
  const CommandOutput other = cluster_.Cli({"eval", "--task", "softmax_rows_f32", baseline_});
  EXPECT_EQ(other.exit.code, 0) << other.out << other.err;
  EXPECT_THAT(other.out, StartsWith("passed"));
  EXPECT_TRUE(cluster_.Running("long")) << cluster_.Log("long");
}

TEST_F(LongBuildsTest, AWorkerThatIsKilledLeavesNoStoppedBuildBehind) {
  StartEval("other", baseline_);
  ASSERT_TRUE(Eventually([&] { return absl::StrContains(cluster_.Log("w1"), "builds paused"); },
                         absl::Minutes(1)))
      << cluster_.Log("w1");
  cluster_.Kill("w1");
  EXPECT_TRUE(Eventually([&] { return !Compiles(); }));
}

}  // namespace
}  // namespace ksearch
