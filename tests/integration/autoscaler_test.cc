// The autoscaler with real programs: a script as the provider, workers of this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr char kProgram[] = "configs/tasks/cpu/softmax_rows_f32/baseline.cpp";

class AutoscalerTest : public testing::Test {
 protected:
  AutoscalerTest() {
    cluster_.UseOwnDevice();
    cluster_.StartCoordinator();
    // Workers are processes of this machine, known by files with their process ids.
    script_ = cluster_.folder() + "/fleet.sh";
    std::ofstream(script_) << absl::StrCat(
        "#!/bin/sh\ncd ", cluster_.folder(), "\nmkdir -p fleet\ncase $1 in\n",
        "start) [ ! -e quota ] || { echo 'the quota of 0 GPUs is used up' >&2; exit 1; }\n",
        "  KSEARCH_INSTANCE=$2 setsid bin/ksearch-worker --config ", cluster_.worker_config(),
        " --coordinator $KSEARCH_COORDINATOR --state-dir $PWD/worker-$2 --name $2",
        " --idle-timeout 60s --leave-grace $KSEARCH_LEAVE_GRACE >>worker-$2.log 2>&1 </dev/null "
        "&\n",
        "  echo $! >fleet/$2 ;;\n",
        "list) for f in fleet/*; do [ -e $f ] || continue; if kill -0 $(cat $f) 2>/dev/null; then "
        "echo ${f#fleet/} running; else rm $f; fi; done ;;\n",
        "stop) kill -TERM $(cat fleet/$2) 2>/dev/null || true ;;\n",
        "kill) kill -KILL $(cat fleet/$2) 2>/dev/null || true ;;\nesac\n");
    ::chmod(script_.c_str(), 0755);
  }
  ~AutoscalerTest() override {
    // What the script started is nobody's child here.
    RunProgram({"/bin/sh", "-c",
                absl::StrCat("cd ", cluster_.folder(),
                             " && for f in fleet/*; do kill -KILL $(cat $f); done 2>/dev/null")});
  }
  void StartAutoscaler(const std::string& name) {
    const std::string config = cluster_.folder() + "/" + name + ".textproto";
    std::ofstream(config) << absl::StrCat(
        "look_every { nanos: 200000000 } state_file: \"", cluster_.folder(), "/", name,
        ".state\" pools { name: \"local\" most: 2 cool_down { seconds: 3 } leave_grace { seconds: "
        "5 } "
        "back_off { seconds: 1 } usd_per_hour: \"3.60\" offer { device_class: DEVICE_CLASS_CPU } "
        "command { argv: \"",
        script_, "\" } }");
    cluster_.Start(name, {cluster_.BinaryPath("ksearch-autoscaler"), "--config", config,
                          "--coordinator", cluster_.address()});
  }
  v1::DemandReply Demand() const {
    return FromJson<v1::DemandReply>(cluster_.Cli({"demand", "--json"}).out);
  }
  CommandOutput Eval() {
    return cluster_.Cli({"eval", "--task", "softmax_rows_f32", "--json", "--repeat",
                         "--wait-for-workers", "3m", LocalCluster::SourcePath(kProgram)},
                        absl::Minutes(5));
  }

  LocalCluster cluster_;
  std::string script_;
};

TEST_F(AutoscalerTest, AnEvaluationWithoutAWorkerGetsOneWhichGoesAgain) {
  StartAutoscaler("autoscaler");
  const CommandOutput eval = Eval();
  ASSERT_EQ(eval.exit.code, 0) << eval.err << cluster_.Log("autoscaler");
  const auto pools = Demand().pools();
  ASSERT_EQ(pools.size(), 1);
  EXPECT_TRUE(pools[0].held());
  EXPECT_EQ(pools[0].report().fault(), "");
  EXPECT_THAT(cluster_.Log("autoscaler"), HasSubstr("1 job waits for a processor"));
  EXPECT_TRUE(
      Eventually([&] { return Demand().pools(0).report().running() == 0; }, absl::Seconds(60)))
      << cluster_.Log("autoscaler");
  EXPECT_GT(Demand().pools(0).report().nano_usd_spent(), 0);
  EXPECT_THAT(cluster_.Cli({"workers"}).out, HasSubstr("local"));
  // The one that went is of no more interest to anybody.
  EXPECT_TRUE(Eventually([&] {
    return FromJson<v1::ListWorkersReply>(cluster_.Cli({"workers", "--json"}).out)
        .workers()
        .empty();
  }));
  EXPECT_EQ(cluster_.Stop("autoscaler"), 0);
  EXPECT_FALSE(Demand().pools(0).held());
}

TEST_F(AutoscalerTest, AFaultIsSaidWherePeopleLookAndASecondAutoscalerKeepsOut) {
  std::ofstream(cluster_.folder() + "/quota").flush();
  StartAutoscaler("autoscaler");
  EXPECT_TRUE(Eventually([&] { return Demand().pools_size() == 1; }, absl::Seconds(60)));
  StartAutoscaler("second");
  std::thread client([&] { EXPECT_EQ(Eval().exit.code, 0); });
  EXPECT_TRUE(
      Eventually([&] { return !Demand().pools(0).report().fault().empty(); }, absl::Seconds(60)));
  EXPECT_THAT(cluster_.Cli({"workers"}).out, HasSubstr("the quota of 0 GPUs is used up"));
  EXPECT_TRUE(Eventually(
      [&] {
        return cluster_.Log("second").find("held by another autoscaler") != std::string::npos;
      },
      absl::Seconds(60)));
  // Once there is room, it goes on by itself.
  ASSERT_EQ(::unlink((cluster_.folder() + "/quota").c_str()), 0);
  client.join();
  EXPECT_EQ(Demand().pools(0).report().fault(), "");
}

TEST_F(AutoscalerTest, ADryRunStartsNothing) {
  const std::string config = cluster_.folder() + "/dry.textproto";
  std::ofstream(config) << "pools { name: \"h200\" most: 4 slurm { gres: \"gpu:h200:1\" } }";
  const CommandOutput plan =
      RunProgram({cluster_.BinaryPath("ksearch-autoscaler"), "--config", config, "--dry-run"});
  EXPECT_EQ(plan.exit.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("#SBATCH --array=0-3%4"));
  const CommandOutput bad =
      RunProgram({cluster_.BinaryPath("ksearch-autoscaler"), "--config", "/nowhere"});
  EXPECT_EQ(bad.exit.code, 3);
  EXPECT_THAT(bad.err, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace ksearch
