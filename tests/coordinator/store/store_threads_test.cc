// Writers, readers and a backup at once.
#include <atomic>
#include <thread>

#include "coordinator/store/database.h"
#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

constexpr int kWriters = 4;
constexpr int kEach = 60;

std::string RunName(int writer) { return absl::StrCat("run-", writer); }

class StoreThreadsTest : public StoreTest {
 protected:
  // One run: asks for jobs, some of which every writer asks for, and records each result as every
  // worker does, without knowing which was first.
  void Write(int writer) {
    for (int i = 0; i < kEach; ++i) {
      const std::string own = absl::StrCat("own-", writer, "-", i);
      const std::string shared = absl::StrCat("shared-", i);
      StepCommit step = Step(RunName(writer));
      step.jobs.push_back({own, Spec(own), "own/" + std::to_string(i)});
      step.jobs.push_back({shared, Spec(shared), "shared/" + std::to_string(i)});
      step.events.emplace_back().set_kind(v1::RunEvent::NOTE);
      const absl::Status status = store_->CommitStep(step);
      if (!status.ok()) ++failures_;
      for (const std::string& job_id : {own, shared}) {
        const auto disposition = Record(*store_, Result(job_id, RunName(writer)));
        if (!disposition.ok()) {
          ++failures_;
        } else if (*disposition == v1::RecordResultReply::RECORDED) {
          ++recorded_;
        }
      }
    }
  }

  std::atomic<int> failures_{0};
  std::atomic<int> recorded_{0};
};

TEST_F(StoreThreadsTest, EveryRunGetsEveryArrivalOnceWhileOthersRead) {
  std::atomic<int> notified{0};
  store_->SetArrivalListener([&](const std::string&) { ++notified; });
  for (int w = 0; w < kWriters; ++w) NewRun(RunName(w));
  std::atomic<bool> writing{true};
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      int64_t seen = 0;
      while (writing) {
        const auto arrivals = store_->ReadArrivals(RunName(r), seen, 10);
        if (!arrivals.ok()) {
          ++failures_;
          continue;
        }
        for (const Arrival& arrival : *arrivals) {
          if (arrival.seq <= seen) ++failures_;
          seen = arrival.seq;
          // A result that has arrived can be read.
          const auto result = store_->ReadResult(arrival.ref);
          if (!result.ok() || !result->has_value()) ++failures_;
        }
        if (!store_->ListRuns().ok()) ++failures_;
      }
    });
  }
  std::thread backup([&] {
    int number = 0;
    while (writing) {
      if (!store_->Backup(folder_.File(absl::StrCat("copy", number++ % 2, ".db"))).ok()) {
        ++failures_;
      }
    }
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) writers.emplace_back([this, w] { Write(w); });
  for (std::thread& thread : writers) thread.join();
  writing = false;
  for (std::thread& thread : readers) thread.join();
  backup.join();

  EXPECT_EQ(failures_, 0);
  EXPECT_EQ(recorded_, kWriters * kEach + kEach);
  EXPECT_EQ(notified, 2 * kWriters * kEach);
  for (int w = 0; w < kWriters; ++w) {
    EXPECT_EQ(Arrivals(RunName(w)).size(), 2u * kEach);
    EXPECT_EQ(store_->ReadEvents(RunName(w), 0, 0)->back().seq(), kEach);
  }
  auto copy = Database::Open(folder_.File("copy0.db"), Database::Mode::kReadWriteCreate);
  ASSERT_TRUE(copy.ok());
  Statement check = (*copy)->Prepare("PRAGMA integrity_check");
  ASSERT_TRUE(check.Next().value());
  EXPECT_EQ(check.TextAt(0), "ok");
}

}  // namespace
}  // namespace ksearch
