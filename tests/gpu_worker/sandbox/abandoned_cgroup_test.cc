// A killed worker leaves processes in its control groups, and the next worker ends them.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/unique_fd.h"
#include "gpu_worker/sandbox/cgroup.h"

namespace ksearch {
namespace {

// Acts as a worker in the middle of a job, one of whose processes reports its id. Returns only if
// this machine offers no control groups.
void WorkOnAJob(int report) {
  if (!CgroupParent::Prepare(::geteuid(), ::getegid()).ok()) return;
  const auto parent = CgroupParent::Find();
  if (!parent.ok()) return;
  const auto job = (*parent)->MakeChild({.memory_bytes = 64 << 20, .max_processes = 8});
  if (!job.ok()) return;
  if (::fork() == 0) {
    for (const int procs : (*job)->join_fds()) {
      if (::write(procs, "0", 1) != 1) ::_exit(1);
    }
    const pid_t self = ::getpid();
    if (::write(report, &self, sizeof(self)) != sizeof(self)) ::_exit(1);
  }
  while (true) ::pause();
}

TEST(AbandonedCgroupTest, NextWorkerEndsWhatAKilledOneLeft) {
  if (::geteuid() != 0) GTEST_SKIP() << "control groups are made by root";
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd said(ends[0]);
  UniqueFd report(ends[1]);
  const pid_t worker = ::fork();
  if (worker == 0) {
    WorkOnAJob(report.get());
    ::_exit(0);
  }
  report.Reset();
  pid_t member = 0;
  const ssize_t got = ::read(said.get(), &member, sizeof(member));
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  ASSERT_EQ(::waitpid(worker, nullptr, 0), worker);
  if (got == 0) GTEST_SKIP() << "no control groups with limits for memory and processes here";
  ASSERT_EQ(got, static_cast<ssize_t>(sizeof(member)));
  EXPECT_EQ(::waitpid(member, nullptr, WNOHANG), 0) << "nothing was left behind";

  // A child process, because Prepare moves its process into another group.
  const pid_t next = ::fork();
  if (next == 0) ::_exit(CgroupParent::Prepare(::geteuid(), ::getegid()).ok() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(next, &status, 0), next);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(::waitpid(member, &status, 0), member);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

}  // namespace
}  // namespace ksearch
