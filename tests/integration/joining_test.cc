// Workers that join with a token: real programs, real TLS, certificates of some seconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/access/token_file.h"
#include "common/textproto.h"
#include "proto/access.pb.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/process_fleet.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class JoiningTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(cluster_.folder() + "/state");
    Ksearch({"pki", "--ca-dir", pki_, "init"});
    Ksearch({"pki", "--ca-dir", pki_, "issue", "--server", "127.0.0.1"});
    Ksearch({"token", "--token-db", Db(), "create", "--role", "admin", "--out", pki_ + "/admin"});
    cluster_.SetCliArgs({"--token-file", pki_ + "/admin", "--ca-file", pki_ + "/ca.pem"});
    cluster_.UseOwnDevice();
    cluster_.StartCoordinator(absl::StrCat(
        "tls { certificate_file: \"", pki_, "/coordinator.pem\" key_file: \"", pki_,
        "/coordinator.key\" worker_certificate_life { seconds: ", kLifeSeconds, " } }"));
  }
  std::string Db() const { return cluster_.folder() + "/state/tokens.textproto"; }

  CommandOutput Ksearch(std::vector<std::string> args) {
    args.insert(args.begin(), cluster_.BinaryPath("ksearch"));
    CommandOutput output = RunProgram(args);
    EXPECT_EQ(output.exit.code, 0) << output.err;
    return output;
  }
  // The access file of a new join token.
  std::string AccessFile(const std::string& name, const std::string& pool = "") {
    const std::string path = absl::StrCat(cluster_.folder(), "/", name, ".access");
    std::vector<std::string> args = {"--coordinator",
                                     cluster_.address(),
                                     "--ca-file",
                                     pki_ + "/ca.pem",
                                     "token",
                                     "--token-db",
                                     Db(),
                                     "create",
                                     "--role",
                                     "join",
                                     "--name",
                                     name,
                                     "--access-file",
                                     path};
    if (!pool.empty()) args.insert(args.end(), {"--pool", pool});
    Ksearch(args);
    AwaitLook();
    return path;
  }
  // The coordinator looks at its token file twice a second.
  static void AwaitLook() { absl::SleepFor(absl::Milliseconds(1200)); }
  std::string TokenIdOf(const std::string& name) {
    const v1::AccessTokens list = ReadTokenFile(Db()).value();
    for (const v1::AccessToken& token : list.tokens()) {
      if (token.name() == name) return token.token_id();
    }
    return "";
  }
  v1::WorkerStatus Worker(const std::string& name) {
    const auto reply = FromJson<v1::ListWorkersReply>(cluster_.Cli({"workers", "--json"}).out);
    for (const v1::WorkerStatus& worker : reply.workers()) {
      if (worker.name() == name) return worker;
    }
    return {};
  }
  // A worker that is refused: waits for its end, and returns its log.
  std::string AwaitRefusal(const std::string& name) {
    EXPECT_TRUE(Eventually([&] { return !cluster_.Running(name); }, absl::Seconds(30)));
    return cluster_.Log(name);
  }
  std::vector<std::string> WorkerArgv(const std::string& name, const std::string& access) {
    return {cluster_.BinaryPath("ksearch-worker"),
            "--config",
            cluster_.worker_config(),
            "--access",
            access,
            "--state-dir",
            absl::StrCat(cluster_.folder(), "/", name),
            "--name",
            name};
  }
  // How long the worker's process survives after the command has returned.
  absl::Duration LivesOnAfter(const std::string& name, const std::vector<std::string>& command) {
    Ksearch(command);
    const absl::Time from = absl::Now();
    EXPECT_TRUE(Eventually([&] { return !cluster_.Running(name); }, absl::Seconds(20)));
    return absl::Now() - from;
  }

  // Its only pool consists of such workers, and it has an administrator's token.
  void StartAutoscaler(const ProcessFleet& fleet) {
    const std::string config = cluster_.folder() + "/autoscaler.textproto";
    std::ofstream(config) << absl::StrCat(
        "look_every { nanos: 200000000 } state_file: \"", cluster_.folder(),
        "/autoscaler.state\" tls { ca_file: \"", pki_,
        "/ca.pem\" } pools { name: \"spot\" most: 1 cool_down { seconds: 2 } leave_grace { "
        "seconds: "
        "5 } back_off { seconds: 1 } offer { device_class: DEVICE_CLASS_CPU } command { argv: \"",
        fleet.script(), "\" } }");
    cluster_.Start("autoscaler",
                   {cluster_.BinaryPath("ksearch-autoscaler"), "--config", config, "--coordinator",
                    cluster_.address(), "--token-file", pki_ + "/admin"});
  }
  CommandOutput Eval(const std::string& wait = "3m") {
    return cluster_.Cli(
        {"eval", "--task", "softmax_rows_f32", "--repeat", "--wait-for-workers", wait,
         LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")},
        absl::Minutes(5));
  }

  // A third of it is enough time to renew on a busy machine.
  static constexpr int kLifeSeconds = 18;
  // The promise is one second; the rest allows for a busy machine.
  static constexpr absl::Duration kPutOutWithin = absl::Seconds(3);
  LocalCluster cluster_;
  const std::string pki_ = cluster_.folder() + "/pki";
};

TEST_F(JoiningTest, OneTokenGivesACertificateThatRenewsItself) {
  const std::string access = AccessFile("fleet");
  cluster_.StartWorker("w1", {"--access", access});
  const v1::WorkerStatus first = Worker("w1");
  EXPECT_EQ(first.join_token_id(), TokenIdOf("fleet"));
  struct stat facts;
  ASSERT_EQ(::stat((cluster_.folder() + "/w1/worker.key").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);

  // The token expires; joined workers stay, through several renewals of their certificates.
  ASSERT_TRUE(UpdateTokenFile(Db(), [&](v1::AccessTokens* list) {
                for (v1::AccessToken& token : *list->mutable_tokens()) {
                  if (token.name() == "fleet") {
                    *token.mutable_expires_at() = ToProto(absl::Now() - absl::Seconds(1));
                  }
                }
                return absl::OkStatus();
              }).ok());
  AwaitLook();
  absl::Time ends = FromProto(first.certificate_ends());
  for (int renewal = 0; renewal < 2; ++renewal) {
    ASSERT_TRUE(Eventually(
        [&] { return FromProto(Worker("w1").certificate_ends()) > ends + absl::Seconds(1); },
        absl::Seconds(60)))
        << cluster_.Log("w1");
    ends = FromProto(Worker("w1").certificate_ends());
  }
  EXPECT_TRUE(Worker("w1").connected());
  const CommandOutput eval =
      cluster_.Cli({"eval", "--task", "softmax_rows_f32", "--wait-for-workers", "20s",
                    LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")});
  EXPECT_EQ(eval.exit.code, 0) << eval.err;
  // After a restart, the same worker uses its earlier certificate.
  cluster_.Kill("w1");
  cluster_.StartWorker("w1", {"--access", access});

  // Another worker comes too late and ends, and users see why.
  cluster_.Start("late", WorkerArgv("late", access));
  EXPECT_THAT(AwaitRefusal("late"), HasSubstr("expired"));
  const std::string seen = cluster_.Cli({"workers"}).out;
  EXPECT_THAT(seen, HasSubstr("refused: late"));
  EXPECT_THAT(seen, HasSubstr("expired"));
  EXPECT_TRUE(cluster_.Running("w1"));
}

TEST_F(JoiningTest, RevokedTokenOrWorkerIsOutWithinASecond) {
  const std::string access = AccessFile("fleet");
  cluster_.StartWorker("w1", {"--access", access});
  cluster_.StartWorker("w2", {"--access", access});
  const std::string id = Worker("w1").worker_id();
  const absl::Duration worker_took =
      LivesOnAfter("w1", {"token", "--token-db", Db(), "revoke", "--worker", id});
  EXPECT_LT(worker_took, kPutOutWithin);
  EXPECT_TRUE(cluster_.Running("w2")) << "the same token, another worker";
  // A restart does not let it back in, until the revocation is undone.
  cluster_.Start("w1", WorkerArgv("w1", access));
  EXPECT_THAT(AwaitRefusal("w1"), HasSubstr("was revoked"));
  EXPECT_THAT(cluster_.Cli({"workers"}).out, HasSubstr("refused: w1"));
  EXPECT_THAT(Ksearch({"token", "--token-db", Db(), "ls"}).out, HasSubstr(id));
  Ksearch({"token", "--token-db", Db(), "revoke", "--worker", id, "--undo"});
  AwaitLook();
  cluster_.StartWorker("w1", {"--access", access});

  const absl::Duration token_took =
      LivesOnAfter("w1", {"token", "--token-db", Db(), "revoke", TokenIdOf("fleet")});
  EXPECT_LT(token_took, kPutOutWithin);
  EXPECT_TRUE(Eventually([&] { return !cluster_.Running("w2"); }, absl::Seconds(5)));
  cluster_.Start("w2", WorkerArgv("w2", access));
  EXPECT_THAT(AwaitRefusal("w2"), HasSubstr("revoked"));
  std::printf("out after %s (worker revoked) and %s (token revoked)\n",
              absl::FormatDuration(worker_took).c_str(), absl::FormatDuration(token_took).c_str());
}

TEST_F(JoiningTest, WrongPoolAndOpenFilesAreRefusedWithTheReason) {
  const std::string access = AccessFile("spot", "spot-pool");
  std::vector<std::string> other = {"/usr/bin/env", "KSEARCH_POOL=other-pool"};
  for (std::string& word : WorkerArgv("stray", access)) other.push_back(std::move(word));
  cluster_.Start("stray", other);
  EXPECT_THAT(AwaitRefusal("stray"), testing::AllOf(HasSubstr("is for workers of pool spot-pool"),
                                                    HasSubstr("pool other-pool")));
  EXPECT_THAT(cluster_.Cli({"workers"}).out,
              testing::AllOf(HasSubstr("refused: stray"), HasSubstr("spot-pool")));
  // The file itself says which pool it is for.
  cluster_.StartWorker("w1", {"--access", access});
  EXPECT_EQ(Worker("w1").hello().pool(), "spot-pool");

  ASSERT_EQ(::chmod(access.c_str(), 0644), 0);
  const CommandOutput open = RunProgram(WorkerArgv("w2", access));
  EXPECT_EQ(open.exit.code, 3);
  EXPECT_THAT(open.err, testing::AllOf(HasSubstr("0644"), HasSubstr("chmod 600")));
  EXPECT_EQ(std::count(open.err.begin(), open.err.end(), '\n'), 1) << open.err;
  const CommandOutput none = RunProgram(WorkerArgv("w2", access + "-not-there"));
  EXPECT_EQ(none.exit.code, 3);
  EXPECT_THAT(none.err, HasSubstr("spot.access-not-there"));
  EXPECT_EQ(std::count(none.err.begin(), none.err.end(), '\n'), 1) << none.err;
}

TEST_F(JoiningTest, WorkersOfAnAutoscalerJoinWithTheTokenOfTheirPool) {
  const std::string access = AccessFile("fleet", "spot");
  ProcessFleet fleet(cluster_, "--access " + access);
  StartAutoscaler(fleet);
  // The second time another worker joins, with the same token: the first one ended idle.
  for (int round = 1; round <= 2; ++round) {
    CommandOutput eval;
    std::thread client([&] { eval = Eval(); });
    v1::WorkerStatus worker;
    EXPECT_TRUE(Eventually(
        [&] {
          const std::string name = fleet.last();
          if (!name.empty()) worker = Worker(name);
          return worker.connected();
        },
        absl::Seconds(90)))
        << cluster_.Log("autoscaler");
    EXPECT_EQ(worker.hello().pool(), "spot");
    EXPECT_EQ(worker.hello().instance(), worker.name());
    EXPECT_EQ(worker.join_token_id(), TokenIdOf("fleet"));
    EXPECT_TRUE(worker.has_certificate_ends());
    EXPECT_THAT(fleet.Read(worker.name(), "log"), HasSubstr("msg=\"certificate\""));
    // The autoscaler's own token may do everything, and must not reach the machines that it starts.
    EXPECT_THAT(
        fleet.Read(worker.name(), "environment"),
        testing::AllOf(HasSubstr("KSEARCH_POOL=spot"), testing::Not(HasSubstr("ks_admin"))));
    client.join();
    EXPECT_EQ(eval.exit.code, 0) << eval.err << cluster_.Log("autoscaler");
    EXPECT_TRUE(Eventually([&] { return !Worker(worker.name()).connected(); }, absl::Seconds(90)))
        << cluster_.Log("autoscaler");
    EXPECT_GE(fleet.started(), round);
  }
}

TEST_F(JoiningTest, AnAutoscalerWithATokenOfAnotherPoolStartsNoWorkersAllTheTime) {
  const std::string access = AccessFile("fleet", "other");
  ProcessFleet fleet(cluster_, "--access " + access);
  StartAutoscaler(fleet);
  std::thread client([&] { Eval("15s"); });
  std::string seen;
  EXPECT_TRUE(Eventually(
      [&] {
        seen = cluster_.Cli({"workers"}).out;
        return absl::StrContains(seen, "ended before its worker connected") &&
               absl::StrContains(seen, "is for workers of pool other");
      },
      absl::Seconds(60)))
      << seen << cluster_.Log("autoscaler");
  EXPECT_THAT(seen, HasSubstr("refused: spot-"));
  client.join();
  // After 0, 1, 3, 7 and 15 s at the most.
  EXPECT_LE(fleet.started(), 6);
  EXPECT_THAT(cluster_.Log("autoscaler"), HasSubstr("ended before its worker connected"));
}

TEST_F(JoiningTest, WrongClockIsSaidAndNoObstacleUnlessTheServersCertificateIsNotValidByIt) {
  const std::string access = AccessFile("fleet");
  const auto skewed = [&](const std::string& name, absl::Duration by) {
    std::vector<std::string> argv = {
        "/usr/bin/env", absl::StrCat("LD_PRELOAD=", KSEARCH_SKEWED_CLOCK),
        absl::StrCat("KSEARCH_SKEW_SECONDS=", absl::ToInt64Seconds(by))};
    for (std::string& word : WorkerArgv(name, access)) argv.push_back(std::move(word));
    cluster_.Start(name, argv);
  };
  skewed("ahead", absl::Hours(1));
  ASSERT_TRUE(Eventually([&] { return Worker("ahead").connected(); }, absl::Seconds(30)))
      << cluster_.Log("ahead");
  EXPECT_THAT(cluster_.Cli({"workers"}).out,
              testing::ContainsRegex("ahead: its clock is (59m5|1h).* ahead of the coordinator's"));
  const absl::Time ends = FromProto(Worker("ahead").certificate_ends());
  EXPECT_TRUE(Eventually(
      [&] { return FromProto(Worker("ahead").certificate_ends()) > ends + absl::Seconds(1); },
      absl::Seconds(30)))
      << "renewed: " << cluster_.Log("ahead");
  EXPECT_TRUE(cluster_.Running("ahead"));
  // The coordinator's certificate begins an hour before it was made.
  skewed("behind", -absl::Hours(2));
  EXPECT_TRUE(Eventually(
      [&] { return absl::StrContains(cluster_.Log("behind"), "valid by this machine's clock"); },
      absl::Seconds(30)))
      << cluster_.Log("behind");
}

}  // namespace
}  // namespace ksearch
