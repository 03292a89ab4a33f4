// Memory of a GPU in two processes: this program starts itself again as the other one. Skips
// without a driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/gpu/cuda_buffer_sets_fixture.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using CudaSharingTest = CudaBufferSetsFixture;

void SendFd(int socket, int fd, int64_t bytes) {
  iovec io = {&bytes, sizeof bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  ASSERT_EQ(::sendmsg(socket, &message, 0), static_cast<ssize_t>(sizeof bytes));
}

int ReceiveFd(int socket, int64_t* bytes) {
  iovec io = {bytes, sizeof *bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, 0) != static_cast<ssize_t>(sizeof *bytes)) return -1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

// Takes one buffer, answers with its first byte behind the guard band, doubles it, and adds one to
// the last byte of the front guard band if told so.
int RunAsOtherProcess(int socket) {
  int64_t bytes = 0;
  const UniqueFd fd(ReceiveFd(socket, &bytes));
  const auto api = DriverApi::Load();
  if (!fd.ok() || !api.ok()) return 2;
  const auto device = CudaDevice::Open(*api, "");
  if (!device.ok()) return 3;
  const auto memory = DeviceMemory::Import(**api, (*device)->handle(), fd.get(), bytes);
  if (!memory.ok()) return 4;
  const CUdeviceptr tensor = memory->address() + CudaBufferSets::kGuardBytes;
  float value = 0;
  if ((*api)->cuMemcpyDtoH(&value, tensor, sizeof value) != CUDA_SUCCESS) return 5;
  if (::write(socket, &value, sizeof value) != sizeof value) return 6;
  char mischief = 0;
  if (::read(socket, &mischief, 1) != 1) return 7;
  value *= 2;
  if ((*api)->cuMemcpyHtoD(tensor, &value, sizeof value) != CUDA_SUCCESS) return 8;
  if (mischief == 'm' && (*api)->cuMemsetD8(tensor - 1, 0, 1) != CUDA_SUCCESS) return 9;
  return 0;
}

TEST_F(CudaSharingTest, AnotherProcessSharesTheMemory) {
  Make(EveryType(1000), 1);
  buffers_->Prepare({{0, 4}}, 1);
  const double before = Values(0, 0)[0];
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const std::string argument = std::to_string(::dup(pair[1]));
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl("/proc/self/exe", "gpu_cuda_buffer_sets_test", "--as-other-process", argument.c_str(),
            nullptr);
    ::_exit(99);
  }
  ::close(std::stoi(argument));
  ::close(pair[1]);
  SendFd(pair[0], packets_[0].fds[0], packets_[0].request.memory_bytes(0));
  float seen = 0;
  ASSERT_EQ(::read(pair[0], &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
  EXPECT_EQ(static_cast<double>(seen), before);
  ASSERT_EQ(::write(pair[0], "m", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  ::close(pair[0]);
  EXPECT_EQ(Values(0, 0)[0], 2 * before);
  EXPECT_THAT(buffers_->ChangedInput({0, 4}), Optional(std::string("in0")));
  EXPECT_THAT(Findings(0, 1).broken_guard, HasSubstr("wrote 1 bytes before 'in0'"));
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--as-other-process") {
    return ksearch::RunAsOtherProcess(std::stoi(argv[2]));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
