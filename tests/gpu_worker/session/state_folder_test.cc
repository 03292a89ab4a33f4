#include "gpu_worker/session/state_folder.h"

#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/gpu_worker/session/scratch_folder.h"

namespace ksearch {
namespace {

TEST(StateFolderTest, WorkerIdLasts) {
  ScratchFolder scratch;
  std::string id;
  {
    auto state = StateFolder::Open(scratch.path() + "/deep/state");
    ASSERT_TRUE(state.ok()) << state.status();
    id = (*state)->worker_id();
  }
  auto state = StateFolder::Open(scratch.path() + "/deep/state");
  ASSERT_TRUE(state.ok());
  EXPECT_EQ((*state)->worker_id(), id);
  EXPECT_FALSE(id.empty());
}

TEST(StateFolderTest, SecondWorkerIsKeptOut) {
  ScratchFolder scratch;
  auto first = StateFolder::Open(scratch.path());
  ASSERT_TRUE(first.ok());
  const auto second = StateFolder::Open(scratch.path());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  first->reset();
  EXPECT_TRUE(StateFolder::Open(scratch.path()).ok());
}

TEST(StateFolderTest, LockNamesTheProcess) {
  ScratchFolder scratch;
  std::ofstream(scratch.path() + "/lock") << "12345678901\nof an earlier one\n";
  const auto state = StateFolder::Open(scratch.path());
  ASSERT_TRUE(state.ok()) << state.status();
  std::ifstream lock(scratch.path() + "/lock");
  const std::string text((std::istreambuf_iterator<char>(lock)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, std::to_string(::getpid()) + "\n");
}

TEST(StateFolderTest, BadWorkerIdNamesTheFile) {
  ScratchFolder scratch;
  std::ofstream(scratch.path() + "/worker_id") << "not an id";
  const auto state = StateFolder::Open(scratch.path());
  EXPECT_EQ(state.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(state.status().message().find(scratch.path() + "/worker_id"), std::string::npos);
}

}  // namespace
}  // namespace ksearch
