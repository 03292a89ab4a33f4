// Acknowledged writes survive kill -9, and a full disk gives an error, not a loss.
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <set>

#include "common/rng.h"
#include "common/unique_fd.h"
#include "coordinator/store/database.h"
#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

constexpr int kKills = 12;

std::string JobName(int life, int number) { return absl::StrCat("job-", life, "-", number); }

// Writes jobs and their results as fast as it can, four at a time, and reports on `acknowledged`
// which results were acknowledged. Ends only by a signal.
[[noreturn]] void WriteForEver(const std::string& path, int life, int acknowledged) {
  auto store = Store::Open(At(path));
  if (!store.ok()) ::_exit(1);
  RunRow run;
  run.run_id = "r1";
  run.request_id = "q1";
  if (!(*store)->CreateRun(run).ok()) ::_exit(2);
  for (int number = 0;; number += 4) {
    StepCommit step;
    step.run_id = "r1";
    for (int i = number; i < number + 4; ++i) {
      step.jobs.push_back({JobName(life, i), Spec(std::string(500, 'x')), JobName(life, i)});
    }
    if (!(*store)->CommitStep(step).ok()) ::_exit(3);
    for (int i = number; i < number + 4; ++i) {
      v1::JobResult result = Result(JobName(life, i));
      result.set_message(std::string(1500, 'm'));
      (*store)->RecordResult(result, "", [acknowledged, i](auto disposition) {
        if (!disposition.ok()) ::_exit(4);
        if (::write(acknowledged, &i, sizeof i) != sizeof i) ::_exit(5);
      });
    }
  }
}

TEST(StoreCrashTest, NothingAcknowledgedIsLostByKill) {
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  const uint64_t seed = std::chrono::steady_clock::now().time_since_epoch().count();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  Rng rng(seed);
  std::set<std::string> acknowledged;
  for (int life = 0; life < kKills; ++life) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      read_end.Reset();
      WriteForEver(path, life, write_end.get());
    }
    write_end.Reset();
    // The moment of the kill: after a random number of acknowledgments and then up to 5 ms, a few
    // commits, of spinning (a sleep would be too coarse to hit every part of a commit).
    const uint64_t wanted = 1 + rng.NextBelow(200);
    int number = 0;
    for (uint64_t i = 0; i < wanted; ++i) {
      ASSERT_EQ(::read(read_end.get(), &number, sizeof number),
                static_cast<ssize_t>(sizeof number));
      acknowledged.insert(JobName(life, number));
    }
    const auto moment =
        std::chrono::steady_clock::now() + std::chrono::microseconds(rng.NextBelow(5000));
    while (std::chrono::steady_clock::now() < moment) {
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    while (::read(read_end.get(), &number, sizeof number) == sizeof number) {
      acknowledged.insert(JobName(life, number));
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit status " << WEXITSTATUS(status);

    auto store = Store::Open(At(path));
    ASSERT_TRUE(store.ok()) << store.status();
    std::set<std::string> arrived;
    const auto arrivals = (*store)->ReadArrivals("r1", 0, 0);
    for (const Arrival& arrival : arrivals.value()) {
      EXPECT_TRUE(arrived.insert(arrival.ref).second) << arrival.ref << " arrived twice";
      EXPECT_EQ(arrival.tag, arrival.ref);
    }
    for (const std::string& job_id : acknowledged) {
      EXPECT_TRUE(arrived.contains(job_id)) << job_id;
      EXPECT_TRUE((*store)->ReadResult(job_id)->has_value()) << job_id;
    }
    store->reset();
    auto database = Database::Open(path, Database::Mode::kReadOnly);
    ASSERT_TRUE(database.ok());
    Statement check = (*database)->Prepare("PRAGMA integrity_check");
    ASSERT_TRUE(check.Next().value());
    EXPECT_EQ(check.TextAt(0), "ok");
    Statement keys = (*database)->Prepare("PRAGMA foreign_key_check");
    EXPECT_FALSE(keys.Next().value());
  }
  EXPECT_GE(acknowledged.size(), static_cast<size_t>(kKills));
}

// A file system of 4 MiB; needs root.
class SmallDisk {
 public:
  SmallDisk() { mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=4m") == 0; }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  std::string File(const std::string& name) const { return folder_.File(name); }

 private:
  TempFolder folder_;
  bool mounted_ = false;
};

TEST(StoreFullDiskTest, FullDiskIsSaidAndLosesNothingAcknowledged) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  const std::string path = disk.File("ksearch.db");
  std::vector<std::string> acknowledged;
  {
    auto store = Store::Open(At(path));
    ASSERT_TRUE(store.ok()) << store.status();
    absl::Status status;
    for (int i = 0; i < 1000 && status.ok(); ++i) {
      status = (*store)->AddJob(JobName(0, i), Spec(std::string(20'000, 'x')));
      if (status.ok()) status = Record(**store, Result(JobName(0, i))).status();
      if (status.ok()) acknowledged.push_back(JobName(0, i));
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_GT(acknowledged.size(), 10u);
    // Reads still work, and writes are still refused.
    EXPECT_TRUE((*store)->ReadResult(acknowledged[0])->has_value());
    EXPECT_EQ((*store)->AddJob("big", Spec(std::string(3'000'000, 'x'))).code(),
              absl::StatusCode::kResourceExhausted);
    EXPECT_EQ((*store)->ReadJob("big").status().code(), absl::StatusCode::kNotFound);
    // With free space again the same store continues.
    const std::string mount_point = std::filesystem::path(path).parent_path().string();
    ASSERT_EQ(::mount("tmpfs", mount_point.c_str(), "tmpfs", MS_REMOUNT, "size=32m"), 0);
    EXPECT_TRUE((*store)->AddJob("after", Spec("a")).ok());
    EXPECT_TRUE(Record(**store, Result("after")).ok());
    acknowledged.push_back("after");
  }
  auto store = Store::Open(At(path));
  ASSERT_TRUE(store.ok()) << store.status();
  for (const std::string& job_id : acknowledged) {
    EXPECT_TRUE((*store)->ReadResult(job_id)->has_value()) << job_id;
  }
}

}  // namespace
}  // namespace ksearch
