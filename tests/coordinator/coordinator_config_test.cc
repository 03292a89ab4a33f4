#include "coordinator/coordinator_config.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CoordinatorConfigTest, RemovalOfRunsIsReadFromTheCommandLine) {
  CommandLineActions actions;
  const auto config =
      LoadCoordinatorConfig({"--state-dir", "s", "--remove-run", "a", "--remove-run", "b",
                             "--remove-runs-before", "2026-11-01", "--archive", "x.db"},
                            &actions);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(actions.removes_runs());
  EXPECT_THAT(actions.remove_runs, ElementsAre("a", "b"));
  EXPECT_EQ(absl::FormatTime("%Y-%m-%d %H:%M", actions.remove_runs_before, absl::UTCTimeZone()),
            "2026-11-01 00:00");
  EXPECT_EQ(actions.archive, "x.db");
}

TEST(CoordinatorConfigTest, RunsAreNotRemovedWithoutAnArchiveOrByNonsense) {
  const auto fault = [](const std::vector<std::string>& args) {
    CommandLineActions actions;
    return std::string(LoadCoordinatorConfig(args, &actions).status().message());
  };
  EXPECT_THAT(fault({"--remove-run", "a"}), HasSubstr("need --archive"));
  EXPECT_THAT(fault({"--remove-runs-before", "2026-11-01"}), HasSubstr("need --archive"));
  EXPECT_THAT(fault({"--archive", "x.db"}), HasSubstr("--archive needs one of them"));
  EXPECT_EQ(fault({"--remove-runs-before", "yesterday", "--archive", "x.db"}),
            "--remove-runs-before: 'yesterday' is not a date; write one such as 2026-11-30");
}

}  // namespace
}  // namespace ksearch
