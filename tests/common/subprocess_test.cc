#include "common/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "common/clock.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

SubprocessOptions Shell(const std::string& script) {
  SubprocessOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  return options;
}

TEST(SubprocessTest, ReportsExitCodeAndSignal) {
  auto exited = RunCommand(Shell("exit 7"), absl::Seconds(10));
  ASSERT_TRUE(exited.ok()) << exited.status();
  EXPECT_FALSE(exited->exit.signaled);
  EXPECT_EQ(exited->exit.code, 7);
  auto killed = RunCommand(Shell("kill -9 $$"), absl::Seconds(10));
  ASSERT_TRUE(killed.ok());
  EXPECT_TRUE(killed->exit.signaled);
  EXPECT_EQ(killed->exit.code, SIGKILL);
}

TEST(SubprocessTest, CollectsBothStreamsUpToTheLimit) {
  auto output = RunCommand(Shell("echo out; echo err >&2"), absl::Seconds(10));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  output = RunCommand(Shell("head -c 100000 /dev/zero"), absl::Seconds(10), 1000);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out.size(), 1000u);
  EXPECT_TRUE(output->out_truncated);
  EXPECT_EQ(output->exit.code, 0) << "the rest is read, so the child is not blocked";
}

TEST(SubprocessTest, MissingProgramIsNamed) {
  SubprocessOptions options;
  options.argv = {"/nonexistent/program"};
  EXPECT_THAT(std::string(Subprocess::Start(options).status().message()),
              HasSubstr("/nonexistent/program"));
  options.argv = {"no-such-program-anywhere"};
  EXPECT_EQ(Subprocess::Start(options).status().code(), absl::StatusCode::kNotFound);
}

TEST(SubprocessTest, DaemonOutlivesItsParentInASessionOfItsOwn) {
  pid_t pid = 0;
  {
    SubprocessOptions options = Shell("sleep 60");
    options.die_with_parent = false;
    options.new_session = true;
    auto process = Subprocess::Start(options);
    ASSERT_TRUE(process.ok()) << process.status();
    pid = (*process)->pid();
    (*process)->LeaveRunning();
  }
  EXPECT_EQ(::getsid(pid), pid);
  EXPECT_EQ(::kill(pid, SIGKILL), 0) << "it is still there";
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST(SubprocessTest, NothingIsInheritedUnasked) {
  ASSERT_EQ(::setenv("KSEARCH_SECRET_FOR_TEST", "value", 1), 0);
  const int leak = ::open("/dev/null", O_RDONLY);  // without CLOEXEC, on purpose
  const auto output =
      RunCommand(Shell("echo \"[$KSEARCH_SECRET_FOR_TEST]\"; ls /proc/self/fd"), absl::Seconds(10));
  ::close(leak);
  ASSERT_TRUE(output.ok());
  EXPECT_THAT(output->out, HasSubstr("[]\n"));
  // 0, 1, 2 and the one that ls opens itself.
  EXPECT_EQ(output->out.substr(3), "0\n1\n2\n3\n");
}

TEST(SubprocessTest, GivenDescriptorHasItsNumber) {
  int pipe_fds[2];
  ASSERT_EQ(::pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd read_end(pipe_fds[0]), write_end(pipe_fds[1]);
  SubprocessOptions options = Shell("echo hello >&9");
  options.inherited_fds = {{write_end.get(), 9}};
  const auto output = RunCommand(options, absl::Seconds(10));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->exit.code, 0) << output->err;
  char buffer[16] = {};
  EXPECT_EQ(::read(read_end.get(), buffer, sizeof buffer), 6);
  EXPECT_STREQ(buffer, "hello\n");
}

TEST(SubprocessTest, TimeoutKillsTheWholeGroup) {
  int grandchild = 0;
  // A busy machine may need longer until the shell has said anything.
  for (absl::Duration time = absl::Milliseconds(300); grandchild == 0; time *= 3) {
    ASSERT_LT(time, absl::Minutes(1)) << "the shell never got as far as its first word";
    const auto output = RunCommand(Shell("sleep 600 & echo $!; wait"), time);
    ASSERT_TRUE(output.ok());
    EXPECT_TRUE(output->timed_out);
    if (!output->out.empty()) {
      ASSERT_TRUE(absl::SimpleAtoi(output->out, &grandchild));
    }
  }
  // init has reaped it or it is a zombie: either way no signal would prove it alive.
  const absl::Time give_up = Clock::Real().SteadyNow() + absl::Minutes(1);
  bool gone = false;
  while (!gone && Clock::Real().SteadyNow() < give_up) {
    const auto state = RunCommand(
        Shell("cut -d' ' -f3 /proc/" + std::to_string(grandchild) + "/stat 2>/dev/null || echo X"),
        absl::Seconds(5));
    gone = state.ok() && (state->out == "X\n" || state->out == "Z\n");
  }
  EXPECT_TRUE(gone);
}

TEST(SubprocessTest, LimitsHold) {
  SubprocessOptions options = Shell("ulimit -n");
  options.limits = {{RLIMIT_NOFILE, 77}};
  const auto output = RunCommand(options, absl::Seconds(10));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "77\n");
}

TEST(SubprocessTest, DestructorEndsTheChild) {
  pid_t pid = 0;
  {
    auto process = Subprocess::Start(Shell("trap '' TERM INT; while :; do sleep 1; done"));
    ASSERT_TRUE(process.ok());
    pid = (*process)->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
    EXPECT_FALSE((*process)->Wait(Clock::Real().SteadyNow()).has_value());
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace ksearch
