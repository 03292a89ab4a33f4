// Hosts are folders of this machine: the ssh of these tests runs its command in a folder.
#include "autoscaler/fleet/ssh_fleet.h"

#include <sys/stat.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/autoscaler/program_folder.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using Manner = FleetProvider::Manner;

class SshFleetTest : public ::testing::Test {
 protected:
  SshFleetTest() {
    pool_.set_name("p");
    pool_.set_coordinator_for_workers("10.0.0.1:7400");
    *pool_.mutable_cool_down() = ToProto(absl::Minutes(5));
    *pool_.mutable_leave_grace() = ToProto(absl::Seconds(60));
    pool_.mutable_ssh()->add_hosts("user@one");
    pool_.mutable_ssh()->add_hosts("two");
    pool_.mutable_ssh()->set_ssh(folder_.Write(
        "ssh",
        "while [ \"$1\" = -o ]; do shift 2; done\nhost=${1#*@}; echo \"$host\" >>$F/calls\n"
        "[ ! -e $F/dead-$host ] || { echo \"ssh: connect to host $host port 22: refused\" >&2; "
        "exit 255; }\n"
        "mkdir -p $F/$host; cd $F/$host; shift; exec sh -c \"$*\"\n"));
    pool_.mutable_ssh()->set_worker_command(folder_.Write(
        "worker", "echo \"$KSEARCH_POOL $KSEARCH_INSTANCE $*\" >args\nexec sleep 1000\n"));
  }
  ~SshFleetTest() override {
    for (const char* host : {"one", "two"}) {
      const std::string pid = folder_.Read(absl::StrCat(host, "/ksearch-worker/worker.pid"));
      if (!pid.empty()) ::kill(std::atoi(pid.c_str()), SIGKILL);
    }
  }
  std::unique_ptr<FleetProvider> Make() { return SshFleet::Create(pool_).value(); }

  ProgramFolder folder_;
  v1::WorkerPool pool_;
};

TEST_F(SshFleetTest, WorkersAreStartedSeenAndStopped) {
  auto fleet = Make();
  EXPECT_TRUE(fleet->List()->instances.empty());
  ASSERT_TRUE(fleet->Start(1).ok());
  EXPECT_TRUE(Eventually([&] {
    return folder_.Read("two/ksearch-worker/args") + folder_.Read("one/ksearch-worker/args") != "";
  }));
  EXPECT_THAT(folder_.Read("two/ksearch-worker/args"),
              HasSubstr("p two --coordinator 10.0.0.1:7400 --state-dir state --idle-timeout 5m"));
  // Another autoscaler finds what this one left.
  fleet = Make();
  auto listed = fleet->List();
  ASSERT_EQ(listed->instances.size(), 1u);
  EXPECT_EQ(listed->instances[0].id, "two");
  EXPECT_EQ(listed->instances[0].state, Instance::State::kRunning);
  ASSERT_TRUE(fleet->Start(1).ok());
  EXPECT_EQ(fleet->List()->instances.size(), 2u);
  EXPECT_THAT(std::string(fleet->Start(1).message()), HasSubstr("every host"));
  ASSERT_TRUE(fleet->Stop("two", Manner::kGently).ok());
  EXPECT_TRUE(Eventually([&] { return fleet->List()->instances.size() == 1; }));
  EXPECT_TRUE(fleet->Stop("two", Manner::kGently).ok());  // gone: no error
}

TEST_F(SshFleetTest, ADeadHostIsNamedAndAnotherTakesItsPlace) {
  folder_.Write("dead-two", "");
  const auto fleet = Make();
  EXPECT_TRUE(fleet->List()->instances.empty());
  ASSERT_TRUE(fleet->Start(1).ok());
  EXPECT_EQ(fleet->List()->instances[0].id, "user_one");
  const absl::Status status = fleet->Start(1);
  EXPECT_THAT(std::string(status.message()), HasSubstr("two: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("refused"));
}

TEST_F(SshFleetTest, AHostThatFallsSilentIsStillCounted) {
  const auto fleet = Make();
  EXPECT_TRUE(fleet->List()->instances.empty());
  ASSERT_TRUE(fleet->Start(1).ok());
  folder_.Write("dead-two", "");
  const auto listed = fleet->List();
  ASSERT_EQ(listed->instances.size(), 1u);
  EXPECT_THAT(listed->instances[0].note, HasSubstr("refused"));
}

TEST_F(SshFleetTest, TheBundleIsCopiedOnce) {
  const std::string make =
      absl::StrCat("cd ", folder_.path(),
                   " && mkdir -p bundle/bin && cp worker bundle/bin/ksearch-worker && tar "
                   "-czf bundle.tar.gz bundle");
  ASSERT_EQ(std::system(make.c_str()), 0);
  pool_.mutable_ssh()->set_bundle(folder_.path() + "/bundle.tar.gz");
  pool_.mutable_ssh()->clear_worker_command();
  pool_.mutable_ssh()->clear_hosts();
  pool_.mutable_ssh()->add_hosts("one");
  auto fleet = Make();
  ASSERT_TRUE(fleet->Start(1).ok());
  EXPECT_TRUE(Eventually([&] { return folder_.Read("one/ksearch-worker/args") != ""; }));
  ASSERT_TRUE(fleet->Stop("one", Manner::kAtOnce).ok());
  EXPECT_TRUE(Eventually([&] { return fleet->List()->instances.empty(); }));
  const size_t calls = folder_.Read("calls").size();
  ASSERT_TRUE(fleet->Start(1).ok());
  EXPECT_EQ(folder_.Read("calls").size() - calls, 2 * std::string("one\n").size());
}

}  // namespace
}  // namespace ksearch
