// The autoscaler with real programs: a script as the provider, workers of this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fault_server.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/process_fleet.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr char kProgram[] = "configs/tasks/cpu/softmax_rows_f32/baseline.cpp";

// A cluster whose API answers as Kubernetes' does, and whose nodes cannot pull the workers' image.
class ClusterWithoutImage {
 public:
  ClusterWithoutImage()
      : server_([this](const std::string& request, int) { return Answer(request); }) {}
  std::string origin() const { return server_.origin(); }
  // How often somebody asked for more pods than there were.
  int raised() const { return raised_; }

 private:
  static constexpr char kDeployment[] = "/apis/apps/v1/namespaces/kernels/deployments/workers";

  Fault Answer(const std::string& request) {
    MutexLock lock(&mu_);
    std::string body = "{}";
    if (absl::StartsWith(request, absl::StrCat("PATCH ", kDeployment, "/scale "))) {
      const size_t at = request.rfind("\"replicas\":");
      const int wanted = std::atoi(request.c_str() + at + sizeof("\"replicas\":") - 1);
      if (wanted > static_cast<int>(pods_.size())) ++raised_;
      // Each pod has a name of its own.
      while (wanted > static_cast<int>(pods_.size())) pods_.push_back(next_++);
      pods_.resize(static_cast<size_t>(wanted));
    } else if (absl::StartsWith(request, absl::StrCat("GET ", kDeployment, "/scale "))) {
      body =
          absl::StrCat(R"({"kind": "Scale", "metadata": {"name": "workers", "resourceVersion": )",
                       R"("7"}, "spec": {"replicas": )", pods_.size(), "}}");
    } else if (absl::StartsWith(request, absl::StrCat("GET ", kDeployment, " "))) {
      body = absl::StrCat(
          R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "workers"},)",
          R"( "spec": {"replicas": )", pods_.size(),
          R"(, "selector": {"matchLabels": {"app": "ksearch-worker"}}}, "status": {"replicas": )",
          pods_.size(), "}}");
    } else if (absl::StartsWith(request, "GET /api/v1/namespaces/kernels/pods?")) {
      std::vector<std::string> pods;
      for (const int pod : pods_) {
        pods.push_back(absl::StrCat(
            R"({"metadata": {"name": "workers-)", pod, R"("}, "status": {"phase": "Pending",)",
            R"( "containerStatuses": [{"image": "ksearch-worker:2", "state": {"waiting": {"reason":)",
            R"( "ImagePullBackOff", "message": "Back-off pulling image"}}}]}})"));
      }
      body = absl::StrCat(R"({"kind": "PodList", "items": [)", absl::StrJoin(pods, ","), "]}");
    }
    Fault fault;
    fault.bytes = HttpReply(200, body, {"Content-Type: application/json"});
    return fault;
  }

  Mutex mu_;
  std::vector<int> pods_ ABSL_GUARDED_BY(mu_);
  int next_ ABSL_GUARDED_BY(mu_) = 0;
  std::atomic<int> raised_ = 0;
  FaultServer server_;
};

class AutoscalerTest : public testing::Test {
 protected:
  AutoscalerTest() {
    cluster_.UseOwnDevice();
    cluster_.StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"));
    cluster_.StartCoordinator();
    fleet_.emplace(cluster_);
  }
  // `cost`: of its pool.
  void StartAutoscaler(const std::string& name,
                       const std::string& cost = "usd_per_hour: \"3.60\"") {
    const std::string config = cluster_.folder() + "/" + name + ".textproto";
    std::ofstream(config) << absl::StrCat(
        "look_every { nanos: 200000000 } state_file: \"", cluster_.folder(), "/", name,
        ".state\" pools { name: \"local\" most: 2 cool_down { seconds: 3 } leave_grace { seconds: "
        "5 } "
        "back_off { seconds: 1 } ",
        cost, " offer { device_class: DEVICE_CLASS_CPU } command { argv: \"", fleet_->script(),
        "\" } }");
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
  std::optional<ProcessFleet> fleet_;
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
  // The worker that ended is no longer listed.
  EXPECT_TRUE(Eventually([&] {
    return FromJson<v1::ListWorkersReply>(cluster_.Cli({"workers", "--json"}).out)
        .workers()
        .empty();
  }));
  EXPECT_EQ(cluster_.Stop("autoscaler"), 0);
  EXPECT_FALSE(Demand().pools(0).held());
}

TEST_F(AutoscalerTest, AFaultIsSaidWherePeopleLookAndASecondAutoscalerKeepsOut) {
  fleet_->RefuseStarts(true);
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
  // Once there is room, the autoscaler continues by itself.
  fleet_->RefuseStarts(false);
  client.join();
  EXPECT_EQ(Demand().pools(0).report().fault(), "");
}

TEST_F(AutoscalerTest, ARunsTimeOnRentedDevicesCostsWhatThePoolSays) {
  StartAutoscaler("autoscaler");
  // At $3.60 an hour a second costs a tenth of a cent.
  const auto price = [](absl::Duration held) { return absl::ToDoubleSeconds(held) * 1e6; };
  const CommandOutput eval = Eval();
  ASSERT_EQ(eval.exit.code, 0) << eval.err << cluster_.Log("autoscaler");
  const auto result = FromJson<v1::JobResult>(eval.out);
  const absl::Duration held = FromProto(result.stage_times().device_held());
  EXPECT_GT(held, absl::ZeroDuration());
  EXPECT_NEAR(static_cast<double>(result.device_nano_usd()), price(held), 1);

  const CommandOutput run = cluster_.Cli(
      {"run", "--task", "softmax_rows_f32", "--rounds", "2", "--wait-for-workers", "3m", "--config",
       LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")},
      absl::Minutes(5));
  ASSERT_TRUE(run.exit.code == 0 || run.exit.code == 7) << run.err;
  const auto ledger =
      FromJson<v1::RunStatus>(cluster_.Cli({"status", "last", "--json"}).out).ledger();
  EXPECT_GT(ledger.device_nano_usd(), 0);
  const double expected = price(FromProto(ledger.gpu_time()));
  EXPECT_NEAR(static_cast<double>(ledger.device_nano_usd()), expected, 0.01 * expected);
  EXPECT_THAT(cluster_.Cli({"status", "last"}).out,
              testing::ContainsRegex("on devices \\(\\$0\\.[0-9]+\\)"));
  // The pool's own account is based on the time that instances exist.
  EXPECT_GE(Demand().pools(0).report().nano_usd_spent(), ledger.device_nano_usd());
}

TEST_F(AutoscalerTest, AtItsCapAPoolSpendsNothingUntilTheCapIsRaised) {
  // Ten cents a second.
  StartAutoscaler("autoscaler", "usd_per_hour: \"360\" usd_cap: \"0.5\"");
  std::thread client([&] { EXPECT_EQ(Eval().exit.code, 0); });
  const auto fault = [&] {
    const v1::DemandReply demand = Demand();
    return demand.pools().empty() ? "" : demand.pools(0).report().fault();
  };
  // Either the evaluation has ended by then, or its worker has left it.
  EXPECT_TRUE(Eventually(
      [&] {
        return fault().find("its cap: its workers are stopped") != std::string::npos &&
               Demand().pools(0).report().running() == 0;
      },
      absl::Seconds(60)))
      << cluster_.Log("autoscaler");
  const int started = fleet_->started();
  const int64_t spent = Demand().pools(0).report().nano_usd_spent();
  EXPECT_GE(spent, 500'000'000);
  EXPECT_THAT(cluster_.Cli({"workers"}).out, HasSubstr("its cap: its workers are stopped"));
  std::thread another([&] { EXPECT_EQ(Eval().exit.code, 0); });
  EXPECT_TRUE(Eventually([&] {
    const v1::DemandReply demand = Demand();
    return !demand.demands().empty();
  }));
  absl::SleepFor(absl::Seconds(3));  // long enough for many looks
  EXPECT_EQ(fleet_->started(), started);
  // A restart forgets neither the account nor the cap; raising it is a change of the configuration.
  EXPECT_EQ(cluster_.Stop("autoscaler"), 0);
  StartAutoscaler("autoscaler", "usd_per_hour: \"360\" usd_cap: \"100\"");
  another.join();
  client.join();
  EXPECT_GT(fleet_->started(), started);
  EXPECT_GT(Demand().pools(0).report().nano_usd_spent(), spent);
}

TEST_F(AutoscalerTest, AnImageThatCannotBePulledIsSaidWherePeopleLookAndTriedLessAndLess) {
  ClusterWithoutImage nodes;
  const std::string token = cluster_.folder() + "/service.token";
  std::ofstream(token) << "t\n";
  const std::string config = cluster_.folder() + "/kubernetes.textproto";
  std::ofstream(config) << absl::StrCat(
      "look_every { nanos: 200000000 } pools { name: \"h200\" most: 2 back_off { seconds: 1 } "
      "usd_per_hour: \"30\" offer { device_class: DEVICE_CLASS_CPU } kubernetes { api_server: \"",
      nodes.origin(), "\" token_file: \"", token,
      "\" name_space: \"kernels\" deployment: \"workers\" } }");
  cluster_.Start("autoscaler", {cluster_.BinaryPath("ksearch-autoscaler"), "--config", config,
                                "--coordinator", cluster_.address()});
  std::thread client([&] {
    cluster_.Cli({"eval", "--task", "softmax_rows_f32", "--wait-for-workers", "10s",
                  LocalCluster::SourcePath(kProgram)});
  });
  const auto everywhere = [&](const std::string& text) {
    return cluster_.Cli({"workers"}).out.find(text) != std::string::npos &&
           cluster_.Cli({"demand"}).out.find(text) != std::string::npos &&
           cluster_.Log("autoscaler").find(text) != std::string::npos;
  };
  EXPECT_TRUE(Eventually([&] { return everywhere("ImagePullBackOff: ksearch-worker:2"); },
                         absl::Seconds(60)))
      << cluster_.Cli({"workers"}).out << cluster_.Log("autoscaler");
  client.join();
  // In 10 s and a little more: after 0, 1, 3 and 7 s, and 15 s on a busy machine.
  EXPECT_GE(nodes.raised(), 1);
  EXPECT_LE(nodes.raised(), 5) << cluster_.Log("autoscaler");
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
