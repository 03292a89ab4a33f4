#include "autoscaler/autoscaler_config.h"

#include <filesystem>
#include <fstream>

#include "common/arguments.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

class AutoscalerConfigTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::AutoscalerConfig> Load(const std::string& text) {
    const std::string path = testing::TempDir() + "/autoscaler.textproto";
    std::ofstream(path) << text;
    return LoadAutoscalerConfig({"--config", path, "--coordinator", "10.0.0.1:7400"});
  }
  std::string Fault(const std::string& text) { return std::string(Load(text).status().message()); }
};

TEST_F(AutoscalerConfigTest, DefaultsAreFilledIn) {
  const auto config = Load("pools { name: \"a\" most: 3 command { argv: \"fleet.sh\" } }");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->look_every().seconds(), 2);
  EXPECT_EQ(config->pools(0).work_per_instance().seconds(), 300);
  EXPECT_EQ(config->pools(0).cool_down().seconds(), 300);
  EXPECT_EQ(config->pools(0).leave_grace().seconds(), 60);
  EXPECT_EQ(config->pools(0).offer().slots(), 2);
  EXPECT_EQ(config->pools(0).coordinator_for_workers(), "10.0.0.1:7400");
}

TEST_F(AutoscalerConfigTest, EveryFaultIsListedWithItsField) {
  const std::string faults = Fault(
      "look_every { seconds: -1 } "
      "pools { name: \"a b\" most: 0 least: 2 usd_cap: \"1\" command { } } "
      "pools { name: \"b\" most: 1 usd_per_hour: \"cheap\" cool_down { } slurm { gres: \"gpu 1\" } "
      "} "
      "pools { name: \"b\" most: 1 kubernetes { deployment: \"w\" api_server: \"http://10.0.0.1\" "
      "} } "
      "pools { name: \"c\" most: 1 ssh { hosts: \"-oProxyCommand=x\" } } "
      "pools { name: \"d\" most: 1 }");
  for (const char* part :
       {"look_every", "pools[0].name", "pools[0].most", "pools[0].least", "pools[0].usd_cap",
        "pools[0]: command.argv", "pools[1].usd_per_hour", "pools[1].cool_down",
        "pools[1]: slurm.gres", "pools[2].name: 'b' is given twice",
        "pools[2]: kubernetes.api_server", "pools[3]: ssh.hosts",
        "pools[4]: give one of command, slurm, ssh, kubernetes"}) {
    EXPECT_THAT(faults, HasSubstr(part));
  }
}

TEST_F(AutoscalerConfigTest, BadArgumentsAreOfUsage) {
  EXPECT_TRUE(IsUsageError(LoadAutoscalerConfig({}).status()));
  EXPECT_TRUE(IsUsageError(LoadAutoscalerConfig({"--pool", "x"}).status()));
  EXPECT_THAT(Fault("pools { nome: \"a\" }"), HasSubstr("nome"));
  EXPECT_THAT(Fault(""), HasSubstr("pools: give at least one"));
}

}  // namespace
}  // namespace ksearch
