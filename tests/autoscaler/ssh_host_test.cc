// The provider of hosts with the real ssh and a real server, on this machine: a bundle is copied,
// its worker started, watched and stopped; and the error when the host refuses. Instead of a worker
// it runs a program that waits and ends on SIGTERM, as a worker does.
#include "tests/autoscaler/ssh_host.h"

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "autoscaler/fleet/ssh_fleet.h"
#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/autoscaler/program_folder.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Manner = FleetProvider::Manner;

class SshHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = SshHost::WhyNot(); !why.empty()) GTEST_SKIP() << why;
    host_ = std::make_unique<SshHost>(files_.path() + "/ssh");
    pool_.set_name("lab");
    pool_.set_coordinator_for_workers("10.0.0.1:7400");
    *pool_.mutable_cool_down() = ToProto(absl::Minutes(5));
    *pool_.mutable_leave_grace() = ToProto(absl::Seconds(60));
    v1::SshFleet* ssh = pool_.mutable_ssh();
    ssh->add_hosts("127.0.0.1");
    ssh->set_folder(files_.path() + "/the host's folder");  // a name that a shell would split
    ssh->set_bundle(Bundle("1"));
    Give(host_->Arguments());
  }
  void TearDown() override {
    const std::string pid = OnHost("worker.pid");
    if (!pid.empty()) ::kill(std::atoi(pid.c_str()), SIGKILL);
  }
  void Give(const std::vector<std::string>& args) {
    pool_.mutable_ssh()->clear_ssh_args();
    for (const std::string& arg : args) pool_.mutable_ssh()->add_ssh_args(arg);
  }
  // An archive in the form of a worker bundle, whose worker says its version and how it was called.
  std::string Bundle(const std::string& version) {
    const std::string name = "ksearch-worker-" + version;
    const std::string bin = absl::StrCat(files_.path(), "/", name, "/bin");
    std::filesystem::create_directories(bin);
    files_.Write(name + "/bin/ksearch-worker",
                 absl::StrCat("echo \"", version,
                              " $KSEARCH_POOL $KSEARCH_INSTANCE [$KSEARCH_TOKEN] $*\" >>began\n"
                              "echo to the log\ntrap 'echo left >>began; exit 0' TERM\n"
                              "while :; do sleep 0.1; done\n"));
    SubprocessOptions options;
    const std::string archive = absl::StrCat(files_.path(), "/", name, ".tar.gz");
    options.argv = {"tar", "-C", files_.path(), "-czf", archive, name};
    options.environment = {{"PATH", "/usr/bin:/bin"}};
    EXPECT_EQ(RunCommand(options, absl::Seconds(30))->exit.code, 0);
    return archive;
  }
  std::string OnHost(const std::string& name) const {
    return files_.Read("the host's folder/" + name);
  }
  std::unique_ptr<FleetProvider> Make() { return SshFleet::Create(pool_).value(); }
  std::string WhyItDoesNotStart() {
    const auto fleet = Make();
    EXPECT_TRUE(fleet->List()->instances.empty());
    return std::string(fleet->Start(1).message());
  }

  ProgramFolder files_;
  std::unique_ptr<SshHost> host_;
  v1::WorkerPool pool_;
};

TEST_F(SshHostTest, ABundleIsCopiedStartedWatchedAndStopped) {
  ::setenv("KSEARCH_TOKEN", "of the autoscaler", 1);
  auto fleet = Make();
  EXPECT_TRUE(fleet->List()->instances.empty());
  const absl::Status started = fleet->Start(1);
  ::unsetenv("KSEARCH_TOKEN");
  ASSERT_TRUE(started.ok()) << started << host_->Log();
  EXPECT_TRUE(Eventually([&] { return !OnHost("began").empty(); }));
  EXPECT_THAT(OnHost("began"),
              HasSubstr("1 lab 127.0.0.1 [] --coordinator 10.0.0.1:7400 --state-dir state "
                        "--idle-timeout 5m --leave-grace 1m"));
  // It outlives the connection, and another autoscaler finds it.
  fleet = Make();
  auto listed = fleet->List();
  ASSERT_EQ(listed->instances.size(), 1u);
  EXPECT_EQ(listed->instances[0].id, "127.0.0.1");
  EXPECT_EQ(listed->instances[0].state, Instance::State::kRunning);
  EXPECT_THAT(fleet->LogOf("127.0.0.1"), HasSubstr("worker.log"));
  EXPECT_TRUE(Eventually([&] { return OnHost("worker.log") == "to the log\n"; }));
  ASSERT_TRUE(fleet->Stop("127.0.0.1", Manner::kGently).ok());
  EXPECT_TRUE(Eventually([&] { return fleet->List()->instances.empty(); }));
  EXPECT_THAT(OnHost("began"), HasSubstr("left"));

  // The same bundle is not copied again, another is.
  std::filesystem::remove(files_.path() + "/the host's folder/bin/ksearch-worker");
  ASSERT_TRUE(fleet->Start(1).ok());
  EXPECT_TRUE(Eventually([&] { return fleet->List()->instances.empty(); }));
  EXPECT_THAT(OnHost("worker.log"), HasSubstr("ksearch-worker"));
  pool_.mutable_ssh()->set_bundle(Bundle("2"));
  fleet = Make();
  EXPECT_TRUE(fleet->List()->instances.empty());
  ASSERT_TRUE(fleet->Start(1).ok());
  EXPECT_TRUE(Eventually([&] { return OnHost("began").find("2 lab") != std::string::npos; }));
  ASSERT_TRUE(fleet->Stop("127.0.0.1", Manner::kAtOnce).ok());
  EXPECT_TRUE(Eventually([&] { return fleet->List()->instances.empty(); }));
}

TEST_F(SshHostTest, WhyOneIsNotLetInIsSaid) {
  Give(host_->StrangersArguments());
  EXPECT_THAT(WhyItDoesNotStart(), HasSubstr("Permission denied (publickey)"));
  Give(host_->UnknownHostArguments());
  EXPECT_THAT(WhyItDoesNotStart(), HasSubstr("Host key verification failed"));
  host_->Stop();
  Give(host_->Arguments());
  EXPECT_THAT(WhyItDoesNotStart(), HasSubstr("Connection refused"));
  EXPECT_EQ(OnHost("began"), "");
}

TEST_F(SshHostTest, AHostThatIsUnreachableForAWhileKeepsItsWorker) {
  const auto fleet = Make();
  EXPECT_TRUE(fleet->List()->instances.empty());
  ASSERT_TRUE(fleet->Start(1).ok()) << host_->Log();
  host_->Stop();
  auto listed = fleet->List();
  ASSERT_EQ(listed->instances.size(), 1u);  // it may run: none is started in its place
  EXPECT_THAT(listed->instances[0].note, HasSubstr("Connection refused"));
  host_->Start();
  listed = fleet->List();
  ASSERT_EQ(listed->instances.size(), 1u);
  EXPECT_EQ(listed->instances[0].note, "");
  ASSERT_TRUE(fleet->Stop("127.0.0.1", Manner::kGently).ok());
  EXPECT_TRUE(Eventually([&] { return fleet->List()->instances.empty(); }));
}

}  // namespace
}  // namespace ksearch
