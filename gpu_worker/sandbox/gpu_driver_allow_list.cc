#include "gpu_worker/sandbox/gpu_driver_allow_list.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "gpu_worker/sandbox/processors_allow_list.h"

namespace ksearch {
namespace {

// The letter of all requests to /dev/nvidiactl and /dev/nvidia<N>, in the second byte. Only frame
// buffers use it, too, and a sandbox has no nodes of those.
constexpr uint64_t kRequestLetter = 0xFF00;
constexpr uint64_t kDriverRequest = uint64_t{'F'} << 8;

// /dev/nvidia-uvm uses plain numbers below 256, and two others to initialize and deinitialize.
// Below 256 the kernel itself has two for all files: FIBMAP, for root only, and FIGETBSZ.
constexpr uint64_t kMemoryRequests = kLowerHalf & ~uint64_t{0xFF};
constexpr uint64_t kBeginMemory = 0x30000001, kEndMemory = 0x30000002;

}  // namespace

std::vector<AllowedCall> GpuDriverAllowList(pid_t self) {
  std::vector<AllowedCall> calls = ProcessorsAllowList(self);
  calls.push_back({"dup", {}});
  calls.push_back({"ioctl", {{1, kRequestLetter, kDriverRequest}}});
  calls.push_back({"ioctl", {{1, kMemoryRequests, 0}}});
  for (const uint64_t request : {kBeginMemory, kEndMemory, uint64_t{FIONBIO}}) {
    calls.push_back({"ioctl", {{1, kLowerHalf, request}}});
  }
  // Every mapping of the device's memory opens a node for it. A filter cannot see which file it is;
  // the sandbox has few writable files, and none can be created.
  calls.push_back({"open", {{1, kLowerHalf & ~kPlainOpenFlags, O_RDWR}}});
  calls.push_back({"openat", {{2, kLowerHalf & ~kPlainOpenFlags, O_RDWR}}});
  // Memory that the device reads, too. RLIMIT_DATA, which does not count it, is not set on GPUs.
  constexpr uint64_t kSharedMemory = MAP_SHARED | MAP_ANONYMOUS;
  calls.push_back({"mmap", {{3, kSharedMemory, kSharedMemory}}});
  for (const int advice : {MADV_DOFORK, MADV_DODUMP}) {
    calls.push_back({"madvise", {{2, kLowerHalf, static_cast<uint32_t>(advice)}}});
  }
  // Nonblocking descriptors; not O_ASYNC, which sends signals.
  constexpr uint64_t kWithoutSleep = O_ACCMODE | O_NONBLOCK | 0100000 /* O_LARGEFILE */;
  calls.push_back({"fcntl", {{1, kLowerHalf, F_SETFL}, {2, kLowerHalf & ~kWithoutSleep, 0}}});
  return calls;
}

}  // namespace ksearch
