#include "gpu_worker/session/task_inputs.h"

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "common/digest.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

class TaskInputsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ksearch-inputs-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = *BlobFolder::Open(root_.string());
  }
  void TearDown() override { fs::remove_all(root_); }
  static v1::Task TaskWith(const std::string& bytes) {
    v1::Task task;
    v1::RecordedRecipe* const recorded = task.add_workloads()->add_inputs()->mutable_recorded();
    recorded->set_sha256(Sha256Hex(bytes));
    recorded->set_bytes(static_cast<int64_t>(bytes.size()));
    return task;
  }

  fs::path root_;
  std::unique_ptr<BlobFolder> folder_;
};

TEST_F(TaskInputsTest, ATransferThatEndsEarlyIsGoneOnWith) {
  const std::string blob = "0123456789";
  int fetches = 0;
  TaskInputs inputs(
      folder_.get(),
      [&](const std::string&, int64_t offset, const TaskInputs::Take& take) -> absl::Status {
        ++fetches;
        const absl::Status taken =
            take(absl::string_view(blob).substr(static_cast<size_t>(offset), 4));
        if (!taken.ok()) return taken;
        return offset + 4 < 10 ? absl::UnavailableError("gone") : absl::OkStatus();
      },
      1000);
  EXPECT_TRUE(inputs.Get(v1::Task(), {}).ok());
  EXPECT_EQ(fetches, 0);
  const auto hold = inputs.Get(TaskWith(blob), {});
  ASSERT_TRUE(hold.ok()) << hold.status();
  EXPECT_EQ(fetches, 3);
  EXPECT_TRUE(folder_->Has(Sha256Hex(blob)));
  EXPECT_TRUE(inputs.Get(TaskWith(blob), {}).ok());
  EXPECT_EQ(fetches, 3);
}

TEST_F(TaskInputsTest, OtherBytesAreRefusedAndAMissingBlobIsNotAskedForAgain) {
  int fetches = 0;
  TaskInputs other(
      folder_.get(),
      [](const std::string&, int64_t, const TaskInputs::Take& take) { return take("other"); },
      1000);
  EXPECT_TRUE(absl::IsDataLoss(other.Get(TaskWith("this"), {}).status()));
  EXPECT_FALSE(folder_->Has(Sha256Hex("this")));
  TaskInputs missing(
      folder_.get(),
      [&](const std::string&, int64_t, const TaskInputs::Take&) {
        ++fetches;
        return absl::NotFoundError("no blob");
      },
      1000);
  EXPECT_TRUE(absl::IsNotFound(missing.Get(TaskWith("this"), {}).status()));
  EXPECT_EQ(fetches, 1);
}

TEST_F(TaskInputsTest, InputsOfATaskAtWorkStayWhateverComesAfterThem) {
  std::string blob;
  TaskInputs inputs(
      folder_.get(),
      [&](const std::string&, int64_t, const TaskInputs::Take& take) { return take(blob); }, 5);
  blob = "11111";
  auto first = inputs.Get(TaskWith(blob), {});
  ASSERT_TRUE(first.ok()) << first.status();
  blob = "22222";
  ASSERT_TRUE(inputs.Get(TaskWith(blob), {}).ok());
  EXPECT_TRUE(folder_->Has(Sha256Hex("11111")));
  first = TaskInputs::Hold();
  blob = "33333";
  const auto third = inputs.Get(TaskWith(blob), {});
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_FALSE(folder_->Has(Sha256Hex("11111")));
  EXPECT_TRUE(folder_->Has(Sha256Hex("33333")));
}

}  // namespace
}  // namespace ksearch
