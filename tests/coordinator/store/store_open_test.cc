#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/match.h"
#include "coordinator/store/database.h"
#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr uid_t kNobody = 65534;

// Runs `body` in a child without root's rights (as root, permission bits do not apply) and returns
// what it returns, 0..255. The caller must have no other thread.
template <typename Body>
int InUnprivilegedChild(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setresgid(kNobody, kNobody, kNobody) != 0 ||
                             ::setresuid(kNobody, kNobody, kNobody) != 0)) {
      ::_exit(255);
    }
    ::_exit(body());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

TEST(StoreOpenTest, CreatesFileAndFolder) {
  TempFolder folder;
  const std::string path = folder.File("new/state/ksearch.db");
  auto store = Store::Open(At(path));
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_GE((*store)->schema_version(), 1);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(StoreOpenTest, SecondCoordinatorIsToldWhoHoldsIt) {
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  auto first = Store::Open(At(path));
  ASSERT_TRUE(first.ok());
  const absl::Status second = Store::Open(At(path)).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.message()), HasSubstr(absl::StrCat("pid ", ::getpid())));
  EXPECT_THAT(std::string(second.message()), HasSubstr(path));
  std::filesystem::create_symlink(path, folder.File("alias.db"));
  EXPECT_EQ(Store::Open(At(folder.File("alias.db"))).status().code(),
            absl::StatusCode::kFailedPrecondition);
  first->reset();
  EXPECT_TRUE(Store::Open(At(path)).ok());
}

TEST(StoreOpenTest, NewerVersionIsRefusedAndLeftAsItIs) {
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  ASSERT_TRUE(Store::Open(At(path)).ok());
  {
    auto database = Database::Open(path, Database::Mode::kReadWriteCreate);
    ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 99").ok());
  }
  const absl::Status status = Store::Open(At(path)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 99"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

TEST(StoreOpenTest, FileThatIsNoDatabaseIsDataLossAndLeftAsItIs) {
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  const std::string text(5000, 'x');
  std::ofstream(path) << text;
  const absl::Status status = Store::Open(At(path)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST(StoreOpenTest, CutFileIsDataLoss) {
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  ASSERT_TRUE(Store::Open(At(path)).ok());
  std::filesystem::resize_file(path, 6000);
  EXPECT_EQ(Store::Open(At(path)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(StoreOpenTest, EmptyFileIsAFreshStore) {
  TempFolder folder;
  std::ofstream(folder.File("ksearch.db"));
  EXPECT_TRUE(Store::Open(At(folder.File("ksearch.db"))).ok());
}

TEST(StoreOpenTest, FolderInPlaceOfTheFileIsAnError) {
  TempFolder folder;
  std::filesystem::create_directory(folder.File("ksearch.db"));
  const absl::Status status = Store::Open(At(folder.File("ksearch.db"))).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("ksearch.db"));
  EXPECT_EQ(Store::Open(At("")).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(StoreOpenTest, ReadOnlyFolderIsPermissionDenied) {
  TempFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const std::string path = folder.File("ksearch.db");
  EXPECT_EQ(InUnprivilegedChild([&] {
              const absl::Status status = Store::Open(At(path)).status();
              if (!absl::StrContains(status.message(), folder.path())) return 99;
              return static_cast<int>(status.code());
            }),
            static_cast<int>(absl::StatusCode::kPermissionDenied));
  ::chmod(folder.path().c_str(), 0755);
}

TEST(StoreOpenTest, ReadOnlyFileIsPermissionDenied) {
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  ASSERT_TRUE(Store::Open(At(path)).ok());
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod((path + ".lock").c_str(), 0666), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  EXPECT_EQ(InUnprivilegedChild([&] {
              const absl::Status status = Store::Open(At(path)).status();
              if (!absl::StrContains(status.message(), path)) return 99;
              return static_cast<int>(status.code());
            }),
            static_cast<int>(absl::StatusCode::kPermissionDenied));
}

class BusyTest : public StoreTest {};

// Takes the 5 s for which a writer waits.
TEST_F(BusyTest, TransactionOfAnotherProgramIsSaidAndOutlived) {
  auto shell = Database::Open(path(), Database::Mode::kReadWriteCreate);
  ASSERT_TRUE(shell.ok());
  ASSERT_TRUE((*shell)->Execute("BEGIN IMMEDIATE").ok());
  const absl::Status status = store_->AddJob("j1", Spec("a"));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("another program"));
  EXPECT_TRUE(store_->ListRuns().ok());
  ASSERT_TRUE((*shell)->Execute("ROLLBACK").ok());
  EXPECT_TRUE(store_->AddJob("j1", Spec("a")).ok());
}

class BackupTest : public StoreTest {};

TEST_F(BackupTest, CopyHasEverythingCommittedAndOpens) {
  ASSERT_TRUE(store_->AddJob("j1", Spec("a")).ok());
  ASSERT_TRUE(Record(*store_, Result("j1")).ok());
  const std::string copy = folder_.File("backups/copy.db");
  ASSERT_TRUE(store_->Backup(copy).ok());
  ASSERT_TRUE(store_->AddJob("j2", Spec("b")).ok());
  ASSERT_TRUE(store_->Backup(folder_.File("second.db")).ok());
  auto restored = Store::Open(At(copy));
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ((*(*restored)->ReadResult("j1"))->message(), "from w1");
  EXPECT_EQ((*restored)->ReadUnfinishedJobs()->size(), 0u);
  EXPECT_FALSE(std::filesystem::exists(copy + ".part"));
}

TEST_F(BackupTest, RefusesToOverwriteItself) {
  EXPECT_EQ(store_->Backup(path()).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ksearch
