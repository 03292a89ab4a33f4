// A write-ahead log that is damaged from some byte on, as by a power cut of a disk that lies about
// syncs, or by a truncated copy. Everything acknowledged before that byte is there, no transaction
// is there in part, and the store works.
// Replay one:     KSEARCH_TORN_SEED=17 build/dev/tests/store_torn_log_test
// More of them:   KSEARCH_TORN_SEEDS=1000 build/dev/tests/store_torn_log_test
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/numbers.h"
#include "common/rng.h"
#include "coordinator/store/database.h"
#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

constexpr int kResults = 40;  // below a checkpoint: all are in the log
constexpr char kRun[] = "r1";

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t value = otherwise;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

std::string JobName(int number) { return absl::StrCat("job-", number); }

int64_t SizeOf(const std::string& path) {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_size : -1;
}

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The files that a coordinator killed by SIGKILL leaves: as they are while a store has them open.
struct Left {
  std::string database;
  std::string log;
  std::vector<int64_t> log_bytes;  // when result i was acknowledged
};

Left WriteAndKill() {
  Left left;
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  auto store = Store::Open(At(path));
  EXPECT_TRUE(store.ok()) << store.status();
  RunRow run;
  run.run_id = kRun;
  run.request_id = "q";
  EXPECT_TRUE((*store)->CreateRun(run).ok());
  for (int i = 0; i < kResults; ++i) {
    StepCommit step;
    step.run_id = kRun;
    step.jobs.push_back({JobName(i), Spec(std::string(500, 'x')), JobName(i)});
    EXPECT_TRUE((*store)->CommitStep(step).ok());
    v1::JobResult result = Result(JobName(i));
    result.set_message(std::string(1500, 'm'));
    EXPECT_TRUE(Record(**store, result).ok());
    left.log_bytes.push_back(SizeOf(path + "-wal"));
  }
  left.database = Bytes(path);
  left.log = Bytes(path + "-wal");
  EXPECT_EQ(static_cast<int64_t>(left.log.size()), left.log_bytes.back());
  return left;
}

// Opens the files with `log` as their log. Everything acknowledged while the log was no longer than
// `sound` must be there.
void ExpectSound(const Left& left, const std::string& log, int64_t sound) {
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  std::ofstream(path, std::ios::binary) << left.database;
  std::ofstream(path + "-wal", std::ios::binary) << log;
  int kept = 0;
  {
    auto store = Store::Open(At(path));
    ASSERT_TRUE(store.ok()) << store.status();
    for (int i = 0; i < kResults; ++i) {
      const auto result = (*store)->ReadResult(JobName(i));
      ASSERT_TRUE(result.ok()) << result.status();
      if (result->has_value()) {
        EXPECT_EQ(kept, i) << "an earlier result is missing";
        EXPECT_EQ((*result)->message(), std::string(1500, 'm'));
        ++kept;
      } else {
        EXPECT_GT(left.log_bytes[i], sound) << JobName(i) << " was acknowledged and is lost";
      }
    }
    // A result and its arrival are one transaction.
    const auto arrivals = (*store)->ReadArrivals(kRun, 0, 0);
    ASSERT_TRUE(arrivals.ok()) << arrivals.status();
    EXPECT_EQ(arrivals->size(), static_cast<size_t>(kept));
    if ((*store)->ReadRun(kRun).ok()) {
      StepCommit step;
      step.run_id = kRun;
      step.jobs.push_back({"next", Spec("x"), "next"});
      EXPECT_TRUE((*store)->CommitStep(step).ok());
      EXPECT_TRUE(Record(**store, Result("next")).ok());
    }
  }
  auto database = Database::Open(path, Database::Mode::kReadOnly);
  ASSERT_TRUE(database.ok());
  Statement check = (*database)->Prepare("PRAGMA integrity_check");
  ASSERT_TRUE(check.Next().value());
  EXPECT_EQ(check.TextAt(0), "ok");
}

TEST(TornLogTest, WhatWasAcknowledgedBeforeTheTearIsThere) {
  const Left left = WriteAndKill();
  ASSERT_FALSE(testing::Test::HasFailure());
  const int64_t size = static_cast<int64_t>(left.log.size());
  const uint64_t one = FromEnvironment("KSEARCH_TORN_SEED", 0);
  const uint64_t first = one > 0 ? one : 1;
  const uint64_t last = one > 0 ? one : FromEnvironment("KSEARCH_TORN_SEEDS", 60);
  for (uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("replay: KSEARCH_TORN_SEED=", seed));
    Rng rng(seed);
    const int64_t at = static_cast<int64_t>(rng.NextBelow(static_cast<uint64_t>(size)));
    std::string log = left.log;
    switch (seed % 4) {
      case 0:  // cut off
        log.resize(static_cast<size_t>(at));
        break;
      case 1:  // never reached the disk
        std::fill(log.begin() + at, log.end(), '\0');
        break;
      case 2:  // foreign bytes
        std::generate(log.begin() + at, log.end(),
                      [&] { return static_cast<char>(rng.NextBelow(256)); });
        break;
      case 3:  // one bit
        log[static_cast<size_t>(at)] =
            static_cast<char>(log[static_cast<size_t>(at)] ^ (1 << rng.NextBelow(8)));
        break;
    }
    ExpectSound(left, log, at);
  }
}

TEST(TornLogTest, FramesBehindTheLastCommitDoNotCount) {
  const Left left = WriteAndKill();
  const int64_t size = static_cast<int64_t>(left.log.size());
  Rng rng(1);
  std::string half = left.log;
  for (int i = 0; i < 5000; ++i) half.push_back(static_cast<char>(rng.NextBelow(256)));
  ExpectSound(left, half, size);
  // The beginning of a transaction, as it would be written again: sound frames without a commit.
  ExpectSound(left, left.log + left.log.substr(32, 4096 + 24), size);
}

TEST(TornLogTest, DatabaseWithoutItsLogIsAsOfTheLastCheckpoint) {
  Left left = WriteAndKill();
  ExpectSound(left, "", 0);
}

}  // namespace
}  // namespace ksearch
