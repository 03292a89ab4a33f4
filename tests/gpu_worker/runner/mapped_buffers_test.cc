#include "gpu_worker/runner/mapped_buffers.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ksearch {
namespace {

std::vector<UniqueFd> Files(int count) {
  std::vector<UniqueFd> fds;
  for (int i = 0; i < count; ++i) {
    fds.emplace_back(::memfd_create("test", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(fds.back().get(), 8192), 0);
  }
  return fds;
}

// Slots: an integer, a double, a buffer; two sets.
v1::MapRequest Request() {
  v1::MapRequest request;
  request.add_slots()->set_int_value(-5);
  request.add_slots()->set_float_value(0.25);
  request.add_slots()->set_buffer(true);
  request.set_sets(2);
  for (int set = 0; set < 2; ++set) {
    v1::MappedBuffer* buffer = request.add_buffers();
    buffer->set_memory(set);
    request.add_memory_bytes(8192);
    buffer->set_offset(4096);
    buffer->set_set(set);
    buffer->set_slot(2);
  }
  return request;
}

TEST(MappedBuffersTest, BlocksHoldValuesAndPointers) {
  MappedBuffers buffers;
  const std::vector<UniqueFd> fds = Files(2);
  ASSERT_EQ(::pwrite(fds[1].get(), "second", 6, 4096), 6);
  int error_number = 0;
  std::string error;
  ASSERT_TRUE(buffers.Map(Request(), fds, &error_number, &error)) << error;
  ASSERT_EQ(buffers.blocks().sets(), 2);
  const std::vector<uint64_t>& block = buffers.blocks().block(1);
  ASSERT_EQ(block.size(), 5u);
  EXPECT_EQ(static_cast<int64_t>(block[0]), -5);
  double number;
  std::memcpy(&number, &block[1], sizeof number);
  EXPECT_EQ(number, 0.25);
  EXPECT_STREQ(reinterpret_cast<const char*>(block[2]), "second");
  EXPECT_EQ(block[3], 0u);
  EXPECT_EQ(buffers.blocks().blank()[2], 0u);
}

TEST(MappedBuffersTest, TheLastPieceOfMemoryMayReleaseCalls) {
  MappedBuffers buffers;
  std::vector<UniqueFd> fds = Files(3);
  ASSERT_EQ(::ftruncate(fds[2].get(), CallTurns::kBytes), 0);
  v1::MapRequest request = Request();
  request.add_memory_bytes(CallTurns::kBytes);
  request.set_turns(true);
  int error_number = 0;
  std::string error;
  ASSERT_TRUE(buffers.Map(request, fds, &error_number, &error)) << error;
  ASSERT_NE(buffers.turns(), nullptr);
  buffers.turns()->returned = 3;
  uint32_t returned = 0;
  ASSERT_EQ(::pread(fds[2].get(), &returned, sizeof returned, offsetof(CallTurns, returned)),
            static_cast<ssize_t>(sizeof returned));
  EXPECT_EQ(returned, 3u);
  // Gone with the workload.
  fds.resize(2);
  ASSERT_TRUE(buffers.Map(Request(), fds, &error_number, &error)) << error;
  EXPECT_EQ(buffers.turns(), nullptr);
}

TEST(MappedBuffersTest, IsCompleteOnceEveryBufferOfEverySetIsThere) {
  MappedBuffers buffers;
  int error_number = 0;
  std::string error;
  v1::MapRequest first = Request();
  v1::MapRequest second = first;
  second.set_append(true);
  first.mutable_buffers()->RemoveLast();
  first.mutable_memory_bytes()->RemoveLast();
  second.mutable_buffers()->erase(second.buffers().begin());
  second.mutable_memory_bytes()->RemoveLast();
  second.mutable_buffers(0)->set_memory(0);
  EXPECT_FALSE(buffers.blocks().Complete());
  ASSERT_TRUE(buffers.Map(first, Files(1), &error_number, &error)) << error;
  EXPECT_FALSE(buffers.blocks().Complete());
  ASSERT_TRUE(buffers.Map(second, Files(1), &error_number, &error)) << error;
  EXPECT_TRUE(buffers.blocks().Complete());
}

TEST(MappedBuffersTest, SeveralBuffersLieInOnePieceOfMemory) {
  MappedBuffers buffers;
  int error_number = 0;
  std::string error;
  v1::MapRequest request = Request();
  request.mutable_memory_bytes()->RemoveLast();
  request.mutable_buffers(1)->set_memory(0);
  request.mutable_buffers(1)->set_offset(512);
  const std::vector<UniqueFd> fds = Files(1);
  ASSERT_EQ(::pwrite(fds[0].get(), "second", 6, 512), 6);
  ASSERT_TRUE(buffers.Map(request, fds, &error_number, &error)) << error;
  EXPECT_TRUE(buffers.blocks().Complete());
  EXPECT_STREQ(reinterpret_cast<const char*>(buffers.blocks().block(1)[2]), "second");
  EXPECT_EQ(buffers.blocks().block(0)[2] - buffers.blocks().block(1)[2], 4096u - 512u);
}

TEST(MappedBuffersTest, WorkspaceIsAlignedAndEndsAtAGuardPage) {
  MappedBuffers buffers;
  int error_number = 0;
  std::string error;
  ASSERT_TRUE(buffers.Map(Request(), Files(2), &error_number, &error));
  ASSERT_TRUE(buffers.AllocateWorkspace(1000, &error_number, &error));
  const uint64_t workspace = buffers.blocks().block(0)[3];
  EXPECT_EQ(workspace % 64, 0u);
  EXPECT_EQ(buffers.blocks().block(0)[4], 1000u);
  EXPECT_EQ(buffers.blocks().block(1)[3], workspace);
  std::memset(reinterpret_cast<void*>(workspace), 1, 1000);
  EXPECT_LT((workspace + 1000 + 63) % 4096, 127u);  // the page ends within 64 bytes
}

TEST(MappedBuffersTest, BadRequestsAreRefused) {
  MappedBuffers buffers;
  int error_number = 0;
  std::string error;
  EXPECT_FALSE(buffers.Map(Request(), Files(1), &error_number, &error));
  EXPECT_EQ(error, "descriptors and pieces of memory differ in number");
  v1::MapRequest request = Request();
  for (const int memory : {-1, 2}) {
    request.mutable_buffers(1)->set_memory(memory);
    EXPECT_FALSE(buffers.Map(request, Files(2), &error_number, &error));
    EXPECT_EQ(error, "a tensor beyond its memory");
  }
  request = Request();
  for (const int64_t bytes : {int64_t{4097}, int64_t{-1}}) {
    request.mutable_buffers(1)->set_tensor_bytes(bytes);
    EXPECT_FALSE(buffers.Map(request, Files(2), &error_number, &error));
  }
  request.mutable_buffers(1)->set_tensor_bytes(4096);
  EXPECT_TRUE(buffers.Map(request, Files(2), &error_number, &error)) << error;
  request = Request();
  request.mutable_buffers(0)->set_slot(3);  // the workspace's
  EXPECT_FALSE(buffers.Map(request, Files(2), &error_number, &error));
  request = Request();
  request.mutable_buffers(0)->set_set(2);
  EXPECT_FALSE(buffers.Map(request, Files(2), &error_number, &error));
  ASSERT_TRUE(buffers.Map(Request(), Files(2), &error_number, &error));
  EXPECT_FALSE(buffers.AllocateWorkspace(int64_t{1} << 50, &error_number, &error));
  EXPECT_NE(error_number, 0);
}

}  // namespace
}  // namespace ksearch
