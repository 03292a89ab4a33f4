#include "coordinator/store/store_writer.h"

#include <atomic>
#include <thread>

#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;

class StoreWriterTest : public testing::Test {
 protected:
  StoreWriterTest() : path_(folder_.File("a.db")) {
    auto database = Database::Open(path_, Database::Mode::kReadWriteCreate);
    if (!database.ok()) std::abort();
    EXPECT_TRUE((*database)
                    ->Execute("PRAGMA journal_mode = WAL; CREATE TABLE t (k TEXT PRIMARY KEY) "
                              "STRICT")
                    .ok());
    writer_ = std::make_unique<StoreWriter>(*std::move(database));
  }
  // Holds the writer inside an operation until Release, so that operations posted meanwhile become
  // one group.
  void Hold() {
    writer_->Post(
        [this](Database&) {
          MutexLock lock(&mu_);
          holding_ = true;
          changed_.NotifyAll();
          while (!released_) changed_.Wait(&mu_);
          return absl::OkStatus();
        },
        [](absl::Status) {});
    MutexLock lock(&mu_);
    while (!holding_) changed_.Wait(&mu_);
  }
  void Release() {
    MutexLock lock(&mu_);
    released_ = true;
    changed_.NotifyAll();
  }
  static StoreWriter::Operation Insert(const std::string& key) {
    return [key](Database& database) {
      return database.Prepare("INSERT INTO t (k) VALUES (?)").Text(key).Run();
    };
  }
  // Keys in the file, as another connection sees them.
  std::vector<std::string> Keys() {
    auto reader = Database::Open(path_, Database::Mode::kReadOnly);
    EXPECT_TRUE(reader.ok());
    Statement select = (*reader)->Prepare("SELECT k FROM t ORDER BY k");
    std::vector<std::string> keys;
    while (*select.Next()) keys.push_back(select.TextAt(0));
    return keys;
  }

  TempFolder folder_;
  const std::string path_;
  Mutex mu_;
  CondVar changed_;
  bool holding_ ABSL_GUARDED_BY(mu_) = false;
  bool released_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<StoreWriter> writer_;
};

TEST_F(StoreWriterTest, RunReturnsAfterTheCommit) {
  bool committed = false;
  ASSERT_TRUE(writer_->Run(Insert("a"), [&] { committed = true; }).ok());
  EXPECT_TRUE(committed);
  EXPECT_THAT(Keys(), ElementsAre("a"));
}

TEST_F(StoreWriterTest, FailingOperationDoesNotSpoilItsGroup) {
  ASSERT_TRUE(writer_->Run(Insert("taken")).ok());
  Hold();
  std::vector<absl::StatusCode> codes;
  const auto keep = [&](absl::Status status) { codes.push_back(status.code()); };
  writer_->Post(Insert("a"), keep);
  writer_->Post(
      [](Database& database) {
        // Writes something before it fails, which must be undone, too.
        const absl::Status first = Insert("half")(database);
        return first.ok() ? Insert("taken")(database) : first;
      },
      keep);
  writer_->Post(Insert("b"), keep);
  Release();
  ASSERT_TRUE(writer_->Run([](Database&) { return absl::OkStatus(); }).ok());
  EXPECT_THAT(codes, ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kFailedPrecondition,
                                 absl::StatusCode::kOk));
  EXPECT_THAT(Keys(), ElementsAre("a", "b", "taken"));
}

TEST_F(StoreWriterTest, OperationsPostedMeanwhileShareACommit) {
  Hold();
  std::vector<size_t> keys_at_completion;
  for (int i = 0; i < 100; ++i) {
    writer_->Post(Insert(absl::StrCat("k", i)), [&](absl::Status status) {
      EXPECT_TRUE(status.ok()) << status;
      if (keys_at_completion.empty()) keys_at_completion.push_back(Keys().size());
    });
  }
  Release();
  ASSERT_TRUE(writer_->Run([](Database&) { return absl::OkStatus(); }).ok());
  EXPECT_THAT(keys_at_completion, ElementsAre(100u));  // the first completion sees all of them
}

TEST_F(StoreWriterTest, GroupLostAsAWholeIsTriedAgainOneByOne) {
  Hold();
  std::vector<absl::StatusCode> codes;
  int runs_of_a = 0;
  const auto keep = [&](absl::Status status) { codes.push_back(status.code()); };
  writer_->Post(
      [&](Database& database) {
        ++runs_of_a;
        return Insert("a")(database);
      },
      keep);
  writer_->Post(
      [](Database& database) {
        // SQLite does this by itself on a full disk.
        EXPECT_TRUE(database.Execute("ROLLBACK").ok());
        return absl::ResourceExhaustedError("disk full");
      },
      keep);
  writer_->Post(Insert("b"), keep);
  Release();
  ASSERT_TRUE(writer_->Run([](Database&) { return absl::OkStatus(); }).ok());
  EXPECT_THAT(codes, ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kResourceExhausted,
                                 absl::StatusCode::kOk));
  EXPECT_EQ(runs_of_a, 2);
  EXPECT_THAT(Keys(), ElementsAre("a", "b"));
}

// Operations posted while another program has the file wait 5 s together, not one after another.
TEST_F(StoreWriterTest, GroupThatCannotBeginFailsAsAWhole) {
  auto shell = Database::Open(path_, Database::Mode::kReadWriteCreate);
  ASSERT_TRUE(shell.ok());
  ASSERT_TRUE((*shell)->Execute("BEGIN IMMEDIATE").ok());
  std::vector<absl::StatusCode> codes;
  for (int i = 0; i < 100; ++i) {
    writer_->Post(Insert(absl::StrCat("k", i)),
                  [&](absl::Status status) { codes.push_back(status.code()); });
  }
  EXPECT_EQ(writer_->Run(Insert("last")).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(codes, testing::Each(absl::StatusCode::kUnavailable));
  EXPECT_EQ(codes.size(), 100u);
  ASSERT_TRUE((*shell)->Execute("ROLLBACK").ok());
  ASSERT_TRUE(writer_->Run(Insert("a")).ok());
  EXPECT_THAT(Keys(), ElementsAre("a"));
}

TEST_F(StoreWriterTest, ClosingCommitsWhatIsPostedAndRefusesMore) {
  Hold();
  std::vector<absl::StatusCode> codes;
  writer_->Post(Insert("a"), [&](absl::Status status) { codes.push_back(status.code()); });
  Mutex mu;
  CondVar changed;
  bool closing = false;
  // A completion that runs while the writer is being destroyed may still post, and gets an error.
  writer_->Post(Insert("b"), [&, writer = writer_.get()](absl::Status status) {
    codes.push_back(status.code());
    MutexLock lock(&mu);
    while (!closing) changed.Wait(&mu);
    absl::StatusCode late = absl::StatusCode::kOk;
    while (late == absl::StatusCode::kOk) {  // until the destructor has begun
      writer->Post([](Database&) { return absl::OkStatus(); },
                   [&late](absl::Status refused) { late = refused.code(); });
      std::this_thread::yield();
    }
    codes.push_back(late);
  });
  Release();
  std::thread closer([&] {
    {
      MutexLock lock(&mu);
      closing = true;
      changed.NotifyAll();
    }
    writer_.reset();
  });
  closer.join();
  EXPECT_THAT(codes, ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kOk,
                                 absl::StatusCode::kUnavailable));
  EXPECT_THAT(Keys(), ElementsAre("a", "b"));
}

TEST_F(StoreWriterTest, ManyThreadsPostAtOnce) {
  constexpr int kThreads = 8;
  constexpr int kEach = 100;
  std::atomic<int> committed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        if (writer_->Run(Insert(absl::StrCat(t, "/", i))).ok()) ++committed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(committed, kThreads * kEach);
  EXPECT_EQ(Keys().size(), static_cast<size_t>(kThreads * kEach));
}

}  // namespace
}  // namespace ksearch
