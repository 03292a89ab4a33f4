#include "cli/local/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A minimal daemon, in Perl, as the shell's flock would pass the lock on to its children.
class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    std::string pattern = "/tmp/ksearch-daemon-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~DaemonTest() override {
    EXPECT_TRUE(daemon().Stop(absl::ZeroDuration()).ok());
    std::filesystem::remove_all(folder_);
  }
  // The name is the one that the kernel shows.
  Daemon daemon() const { return Daemon({"/usr/bin/perl", lock(), folder_ + "/log", folder_}); }
  std::string lock() const { return folder_ + "/lock"; }
  std::vector<std::string> Script(const std::string& before) const {
    return {"-e", absl::StrCat("use Fcntl ':flock'; $| = 1; open(my $f, '+>>', '", lock(),
                               "'); flock($f, LOCK_EX); truncate($f, 0); syswrite($f, \"$$\\n\");",
                               before, "sleep(1) while 1;")};
  }
  static bool Runs(const Daemon& daemon) {
    const auto pid = daemon.Running();
    EXPECT_TRUE(pid.ok()) << pid.status();
    return pid.ok() && pid->has_value();
  }

  std::string folder_;
};

TEST_F(DaemonTest, LockSaysWhetherItRuns) {
  Daemon first = daemon();
  EXPECT_FALSE(Runs(first)) << "no file";
  std::ofstream(lock()) << "1\n";
  EXPECT_FALSE(Runs(first)) << "the id of a process that is no daemon of ours, without a lock";
  ASSERT_TRUE(first.Start(Script(""), {}).ok());
  ASSERT_TRUE(Eventually([&] { return Runs(first); }));
  const pid_t pid = **first.Running();
  // Another process than its starter finds it, and after a kill nothing is left.
  EXPECT_EQ(**daemon().Running(), pid);
  EXPECT_FALSE(daemon().Ended().has_value());
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_TRUE(Eventually([&] { return first.Ended().has_value(); }));
  EXPECT_THAT(*first.Ended(), HasSubstr("perl ended with signal 9"));
  EXPECT_FALSE(Runs(first));
  EXPECT_TRUE(daemon().Ended().has_value());
}

TEST_F(DaemonTest, HolderThatIsAnotherProgramIsNotTakenForIt) {
  Daemon perl = daemon();
  ASSERT_TRUE(perl.Start(Script(""), {}).ok());
  ASSERT_TRUE(Eventually([&] { return Runs(perl); }));
  const Daemon other({"/usr/bin/ksearch-worker", lock(), folder_ + "/log", folder_});
  EXPECT_EQ(other.Running().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(other.Stop(absl::ZeroDuration()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Runs(perl));
}

TEST_F(DaemonTest, StopsByItselfOrIsKilled) {
  Daemon polite = daemon();
  ASSERT_TRUE(polite.Start(Script("$SIG{TERM} = sub { exit 0 };"), {}).ok());
  ASSERT_TRUE(Eventually([&] { return Runs(polite); }));
  const auto by_itself = daemon().Stop(absl::Minutes(1));
  ASSERT_TRUE(by_itself.ok()) << by_itself.status();
  EXPECT_TRUE(*by_itself);

  Daemon deaf = daemon();
  ASSERT_TRUE(deaf.Start(Script("$SIG{TERM} = 'IGNORE'; print \"deaf\\n\";"), {}).ok());
  ASSERT_TRUE(Eventually([&] { return !deaf.LastLines(1).empty(); }));
  const auto killed = daemon().Stop(absl::Milliseconds(50));
  ASSERT_TRUE(killed.ok()) << killed.status();
  EXPECT_FALSE(*killed);
  EXPECT_TRUE(*daemon().Stop(absl::Minutes(1))) << "nothing runs";
}

TEST_F(DaemonTest, LastLinesAreOfThisStart) {
  std::ofstream(folder_ + "/log") << "of an earlier one\n";
  Daemon daemon({"/bin/sh", lock(), folder_ + "/log", folder_});
  ASSERT_TRUE(daemon.Start({"-c", "echo one; echo two >&2; echo three; exit 7"}, {}).ok());
  ASSERT_TRUE(Eventually([&] { return daemon.Ended().has_value(); }));
  EXPECT_THAT(*daemon.Ended(), HasSubstr("code 7"));
  EXPECT_THAT(daemon.LastLines(10), ElementsAre("one", "two", "three"));
  EXPECT_THAT(daemon.LastLines(1), ElementsAre("three"));
  EXPECT_THAT(*ReadFile(folder_ + "/log", 1000), HasSubstr("of an earlier one"));
}

TEST_F(DaemonTest, LargeLogIsPutAside) {
  std::ofstream(folder_ + "/log") << std::string((16 << 20) + 1, 'x');
  Daemon daemon({"/bin/sh", lock(), folder_ + "/log", folder_});
  ASSERT_TRUE(daemon.Start({"-c", "echo new"}, {}).ok());
  ASSERT_TRUE(Eventually([&] { return daemon.Ended().has_value(); }));
  EXPECT_EQ(ReadFile(folder_ + "/log", 1000).value_or(""), "new\n");
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/log.1"));
}

}  // namespace
}  // namespace ksearch
