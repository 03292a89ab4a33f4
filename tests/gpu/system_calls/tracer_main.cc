// ksearch-system-call-tracer REPORT_FD LIST PROGRAM ARGUMENT...: becomes PROGRAM and lets a child
// watch it through seccomp user notification. Once the program has installed its own filter, every
// kind of call that it makes is written as one line to the file open at REPORT_FD:
//
//   allowed  mmap protection=0x3 flags=0x22
//   refused  socketpair family=0x1
//
// according to LIST ("processors" or "gpu-driver"). A line that begins with "tracer:" reports an
// error of the tracer. Calls that the program's filters refuse are not seen. Needs neither ptrace
// nor privileges, so it runs inside a sandbox, around a runner. Exit status 97: nothing started.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "gpu_worker/sandbox/gpu_driver_allow_list.h"
#include "gpu_worker/sandbox/processors_allow_list.h"
#include "tests/gpu/system_calls/call_rows.h"

namespace ksearch {
namespace {

constexpr int kNotStarted = 97;

void Write(int report, const std::string& line) {
  // One write, so that processes that share the file do not split each other's lines.
  if (::write(report, line.data(), line.size()) < 0) ::_exit(kNotStarted);
}

[[noreturn]] void GiveUp(int report, const std::string& what) {
  const std::string line = "tracer: " + what + ": " + std::strerror(errno) + "\n";
  if (report >= 0) Write(report, line);
  std::fprintf(stderr, "%s", line.c_str());
  ::_exit(kNotStarted);
}

// The program sends its only message with this; the filter allows that one call, because nobody can
// answer before the message has arrived.
struct Message {
  char byte = 0;
  struct iovec bytes = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  struct msghdr header = {};
  Message() {
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
};

// Asks about every call except the sending of `message`. Returns the descriptor of the questions.
int AskAboutEveryCall(const Message& message) {
  const auto address = reinterpret_cast<uint64_t>(&message.header);
  constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr uint32_t kLow = offsetof(seccomp_data, args) + 8, kHigh = kLow + 4;  // little-endian
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kLow),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(address), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kHigh),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(address >> 32), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
  };
  sock_fprog filter = {sizeof program / sizeof *program, program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

bool SendDescriptor(int socket, int descriptor, Message* message) {
  cmsghdr* const control = CMSG_FIRSTHDR(&message->header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  return ::syscall(SYS_sendmsg, socket, &message->header, 0) == 1;
}

// Returns -1 if the program ended first.
int ReceiveDescriptor(int socket) {
  Message message;
  if (::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC) != 1) return -1;
  int descriptor = -1;
  const cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  if (control != nullptr) std::memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
  return descriptor;
}

// Watches until the program and all its threads are gone.
void LookOn(int questions, int report, pid_t program, const CallList& list) {
  seccomp_notif_sizes sizes;
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) {
    GiveUp(report, "the kernel's user notification");
  }
  std::vector<char> question_bytes(std::max<size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)));
  std::vector<char> answer_bytes(
      std::max<size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)));
  auto* const question = reinterpret_cast<seccomp_notif*>(question_bytes.data());
  auto* const answer = reinterpret_cast<seccomp_notif_resp*>(answer_bytes.data());
  bool has_filter = false;
  std::set<std::string> seen;
  while (true) {
    struct pollfd ready = {questions, POLLIN, 0};
    if (::poll(&ready, 1, -1) < 0 && errno == EINTR) continue;
    if ((ready.revents & POLLIN) == 0) return;
    std::fill(question_bytes.begin(), question_bytes.end(), 0);
    std::fill(answer_bytes.begin(), answer_bytes.end(), 0);
    if (::ioctl(questions, SECCOMP_IOCTL_NOTIF_RECV, question) != 0) continue;  // it is gone
    SystemCall call;
    call.number = question->data.nr;
    for (size_t i = 0; i < call.arguments.size(); ++i) call.arguments[i] = question->data.args[i];
    // A call without a program only asks what the kernel supports.
    const bool sets_filter = call.number == SYS_seccomp &&
                             call.arguments[0] == SECCOMP_SET_MODE_FILTER && call.arguments[2] != 0;
    if (has_filter && !sets_filter) {
      const std::string row = DescribeCall(call, program);
      if (seen.insert(row).second) {
        Write(report, std::string(list.Has(call) ? "allowed  " : "refused  ") + row + "\n");
      }
    }
    has_filter = has_filter || sets_filter;
    answer->id = question->id;
    answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    // Fails if a signal has interrupted the call; the question then comes again.
    ::ioctl(questions, SECCOMP_IOCTL_NOTIF_SEND, answer);
  }
}

[[noreturn]] void BeTracer(int socket, int report, const std::string& list, pid_t program) {
  const int questions = ReceiveDescriptor(socket);
  if (questions < 0) ::_exit(kNotStarted);
  // Closes every descriptor of the program, because others wait for its end to close.
  const int last = static_cast<int>(::sysconf(_SC_OPEN_MAX));
  for (int fd = 0; fd < last; ++fd) {
    if (fd != questions && fd != report) ::close(fd);
  }
  LookOn(
      questions, report, program,
      CallList(list == "processors" ? ProcessorsAllowList(program) : GpuDriverAllowList(program)));
  ::_exit(0);
}

int Run(int argc, char** argv) {
  const std::string list = argc > 2 ? argv[2] : "";
  if (argc < 4 || (list != "processors" && list != "gpu-driver")) {
    std::fprintf(stderr,
                 "usage: ksearch-system-call-tracer REPORT_FD processors|gpu-driver PROGRAM "
                 "ARGUMENT...\n");
    return kNotStarted;
  }
  const int report = std::atoi(argv[1]);
  if (::fcntl(report, F_SETFD, FD_CLOEXEC) != 0) GiveUp(-1, "REPORT_FD is not open");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) GiveUp(report, "socketpair");
  const pid_t program = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) GiveUp(report, "fork");
  if (child == 0) {
    ::close(ends[1]);
    BeTracer(ends[0], report, list, program);
  }
  ::close(ends[0]);
  Message message;
  const int questions = AskAboutEveryCall(message);
  if (questions < 0) GiveUp(report, "seccomp");
  if (!SendDescriptor(ends[1], questions, &message)) GiveUp(report, "sendmsg");
  // From here on the child answers. exec closes the rest.
  ::execv(argv[3], argv + 3);
  GiveUp(report, argv[3]);
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) { return ksearch::Run(argc, argv); }
