#include "gpu_worker/session/result_spool.h"

#include <filesystem>
#include <fstream>

#include "common/textproto.h"
#include "tests/gpu_worker/session/scratch_folder.h"

namespace ksearch {
namespace {

v1::RecordResultRequest Result(const std::string& lease) {
  v1::RecordResultRequest request;
  request.set_lease_id(lease);
  request.mutable_result()->set_message("from " + lease);
  return request;
}

std::string OnlyFile(const std::string& folder) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_EQ(found, "");
    found = entry.path().string();
  }
  return found;
}

TEST(ResultSpoolTest, KeepsResultsOverARestartUntilTheyAreRemoved) {
  ScratchFolder scratch;
  {
    auto spool = ResultSpool::Open(scratch.path() + "/spool");
    ASSERT_TRUE(spool.ok()) << spool.status();
    ASSERT_TRUE((*spool)->Put(Result("a")).ok());
    ASSERT_TRUE((*spool)->Put(Result("b")).ok());
    ASSERT_TRUE((*spool)->Put(Result("b")).ok());
  }
  auto spool = ResultSpool::Open(scratch.path() + "/spool");
  ASSERT_TRUE(spool.ok());
  EXPECT_EQ((*spool)->Load().size(), 2u);
  (*spool)->Remove("a");
  const auto left = (*spool)->Load();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].result().message(), "from b");
}

TEST(ResultSpoolTest, CorruptFileIsSetAside) {
  for (const std::string& damage : {std::string("short"), std::string(64, 'a') + "\nxx"}) {
    ScratchFolder scratch;
    auto spool = ResultSpool::Open(scratch.path());
    ASSERT_TRUE(spool.ok());
    ASSERT_TRUE((*spool)->Put(Result("a")).ok());
    const std::string file = OnlyFile(scratch.path());
    std::ofstream(file, std::ios::trunc) << damage;
    EXPECT_TRUE((*spool)->Load().empty());
    EXPECT_EQ(OnlyFile(scratch.path()), file + ".corrupt");
  }
}

TEST(ResultSpoolTest, FlippedBitIsNoticed) {
  ScratchFolder scratch;
  auto spool = ResultSpool::Open(scratch.path());
  ASSERT_TRUE(spool.ok());
  ASSERT_TRUE((*spool)->Put(Result("a")).ok());
  const std::string file = OnlyFile(scratch.path());
  std::string content = ReadFile(file, 1 << 20).value();
  content.back() ^= 1;
  std::ofstream(file, std::ios::trunc | std::ios::binary) << content;
  EXPECT_TRUE((*spool)->Load().empty());
}

TEST(ResultSpoolTest, UnfinishedWriteOfAnEarlierLifeIsCleared) {
  ScratchFolder scratch;
  std::ofstream(scratch.path() + "/x.result.tmp-012345") << "half";
  auto spool = ResultSpool::Open(scratch.path());
  ASSERT_TRUE(spool.ok());
  EXPECT_EQ(OnlyFile(scratch.path()), "");
}

TEST(ResultSpoolTest, LeaseIdIsNeverAPath) {
  ScratchFolder scratch;
  auto spool = ResultSpool::Open(scratch.path() + "/spool");
  ASSERT_TRUE(spool.ok());
  ASSERT_TRUE((*spool)->Put(Result("../../escape")).ok());
  EXPECT_EQ(OnlyFile(scratch.path()), scratch.path() + "/spool");
}

TEST(ResultSpoolTest, OversizedResultIsRefused) {
  ScratchFolder scratch;
  auto spool = ResultSpool::Open(scratch.path());
  ASSERT_TRUE(spool.ok());
  v1::RecordResultRequest request = Result("a");
  request.mutable_result()->set_message(std::string(9 << 20, 'x'));
  EXPECT_EQ((*spool)->Put(request).code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE((*spool)->Load().empty());
}

}  // namespace
}  // namespace ksearch
