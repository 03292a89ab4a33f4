#include "gpu_worker/verifier/dialogue/runner_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/dialogue/ending_of_exit.h"
#include "gpu_worker/verifier/harness_constants.h"

namespace ksearch {
namespace {

constexpr int kControlFdInRunner = 3;
// A runner starts in about 10 ms, one in an interpreter that imports torch in 3 s. A machine under
// load, a cold disk or one over a network may take long.
constexpr absl::Duration kStartTimeout = absl::Minutes(3);
// From end of file on the socket until the process is reaped.
constexpr absl::Duration kReapTimeout = absl::Seconds(2);
// The same for a runner that is known to have ended: its sandbox only waits for a core.
constexpr absl::Duration kLateReapTimeout = absl::Seconds(30);
// A core that sleeps takes some ten microseconds to wake up, now more, now less.
constexpr absl::Duration kSpinTime = absl::Milliseconds(50);
// Threads stop when they leave the kernel: one that unmaps gigabytes takes a second.
constexpr absl::Duration kStopTimeout = absl::Seconds(10);
constexpr absl::Duration kStopPoll = absl::Microseconds(50);
// The kernel counts processor time to the nanosecond, a stopped process takes none.
constexpr absl::Duration kMaxTimeWhileStopped = absl::Milliseconds(3);
// The memory of a small runner and its libraries, including those loaded at their first use.
constexpr int64_t kMinOwnBytes = int64_t{64} << 20;
constexpr int kReportSurvivorMillis = 30'000;
// Room for the largest MAP on the way in and for its descriptors.
constexpr int kSocketBufferBytes = 1 << 20;

// The file of a descriptor once more, with an open file description that nobody else has; none if
// that fails.
UniqueFd OpenedAnew(int fd) {
  const int mode = ::fcntl(fd, F_GETFL) & O_ACCMODE;
  return UniqueFd(::open(absl::StrCat("/proc/self/fd/", fd).c_str(), mode | O_CLOEXEC));
}

// Errors of the kernel that this process or this machine causes, whatever a runner does.
bool IsShortage(int error) {
  for (const int one : {ENOMEM, ENOBUFS, EMFILE, ENFILE, ENOSPC, ETOOMANYREFS}) {
    if (error == one) return true;
  }
  return false;
}

Ending Shortage(v1::Outcome outcome, absl::string_view what) {
  return {
      .outcome = outcome, .message = absl::StrCat("no room for ", what), .machine_failed = true};
}

// Whether the runner's own code sends this for the batch. A failed recording may have made fewer
// calls.
void ExpectTimings(const v1::BatchRequest& batch, ExpectedReply* expected) {
  const int calls = batch.set_order_size();
  switch (batch.mode()) {
    case v1::BatchRequest::SYNCED:
    case v1::BatchRequest::EVENTS:
      expected->timings = expected->host_times = calls;
      break;
    case v1::BatchRequest::FREE:
      expected->timings = calls > 0 ? 1 : 0;
      expected->host_times = calls;
      break;
    case v1::BatchRequest::CAPTURE:
    case v1::BatchRequest::CHAIN:
      break;
    case v1::BatchRequest::REPLAY:
      expected->timings = calls > 0 ? 1 : 0;
      break;
    default:
      expected->timings = calls;
  }
}

absl::Duration TimeOf(const v1::RunnerReply::Done& done) {
  uint64_t sum = 0;
  for (const uint64_t ns : done.inner_ns()) sum += std::min(ns, uint64_t{1} << 50);
  return absl::Nanoseconds(sum);
}

}  // namespace

uint64_t RunnerLink::NewNonce() { return RandomUint64(); }

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerLink::Launch(
    Sandbox& sandbox, SandboxSpec spec, const Clock& clock, std::shared_ptr<ProgramSlot> folder) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return ErrnoStatus(errno, "socketpair");
  }
  UniqueFd ours(pair[0]), theirs(pair[1]);
  ::setsockopt(ours.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
  ::setsockopt(theirs.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
  const int on = 1;  // before the runner can send: credentials are attached at that time
  ::setsockopt(ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  spec.inherited_fds.emplace_back(theirs.get(), kControlFdInRunner);
  ASSIGN_OR_RETURN(std::unique_ptr<SandboxedProcess> process, sandbox.Launch(spec));
  theirs.Reset();
  return std::unique_ptr<RunnerLink>(
      new RunnerLink(std::move(folder), std::move(ours), std::move(process),
                     spec.limit_data ? spec.memory_bytes : 0, clock));
}

absl::Status RunnerLink::AwaitReady() {
  if (ready_) {
    // There is nothing to read now, except the end of its socket.
    struct pollfd ended = {socket_.get(), POLLIN, 0};
    return ::poll(&ended, 1, 0) == 0 ? absl::OkStatus() : NotStarted("it has ended");
  }
  const absl::Time deadline = launched_at_ + kStartTimeout;
  LearnSender(deadline);
  std::string packet;
  Ending ending = ReceivePacket(deadline, &packet);
  v1::RunnerReply ready;
  ExpectedReply expected;
  expected.body = v1::RunnerReply::kReady;
  if (ending.passed()) ending = JudgeReply(packet, expected, &ready);
  if (!ending.passed()) return NotStarted(ending.message);
  ready_ = true;
  return absl::OkStatus();
}

bool RunnerLink::HungUp() const {
  struct pollfd state = {socket_.get(), 0, 0};
  return ::poll(&state, 1, 0) > 0;  // POLLHUP is always reported
}

absl::Status RunnerLink::Begin() {
  v1::RunnerRequest request;
  request.mutable_begin();
  const std::string bytes = request.SerializeAsString();
  if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    return NotStarted("it has ended");
  }
  return AwaitHello();
}

absl::Status RunnerLink::NotStarted(absl::string_view why) {
  return absl::UnavailableError(
      absl::StrCat("the runner did not start: ", why, "; it printed: ", EndAndReadOutput(1000)));
}

// Nothing is measured beside a runner that is still being taken down: the sandbox's own process may
// end before those inside have given their memory back.
RunnerLink::~RunnerLink() {
  process_->Kill();
  struct pollfd ended = {runner_pidfd_.get(), POLLIN, 0};
  while (runner_pidfd_.ok() && ::poll(&ended, 1, kReportSurvivorMillis) == 0) {
    LOG(ERROR) << "msg=\"a killed runner has not ended yet; nothing is measured beside it\"";
  }
}

Ending RunnerLink::Load(const ProgramImage& program, absl::Time deadline, absl::string_view entry) {
  v1::RunnerRequest request;
  std::vector<int> fds;
  UniqueFd file;
  if (program.is_folder()) {
    // No descriptor: one of a folder leads out of the sandbox.
    request.mutable_load()->set_path(program.main_path());
    request.mutable_load()->set_entry_symbol(entry.data(), entry.size());
  } else {
    request.mutable_load()->set_entry_symbol(kEntrySymbol.data(), kEntrySymbol.size());
    request.mutable_load()->set_workspace_symbol(kWorkspaceSymbol.data(), kWorkspaceSymbol.size());
    absl::StatusOr<UniqueFd> copy = program.CopyForRunner();
    if (!copy.ok()) {
      return Fail(Shortage(
          v1::OUTCOME_LOAD_ERROR,
          absl::StrCat("a copy of the program for its runner: ", copy.status().message())));
    }
    file = *std::move(copy);
    fds.push_back(file.get());
  }
  ExpectedReply expected;
  expected.body = v1::RunnerReply::kLoaded;
  v1::RunnerReply reply;
  loading_ = true;
  Ending ending = Exchange(&request, fds, expected, deadline, &reply);
  loading_ = false;
  return ending.passed() ? AwaitStop() : ending;
}

Ending RunnerLink::Map(const std::vector<MapPacket>& packets, absl::Time deadline) {
  // It is stopped: what it has printed so far is in the pipe.
  if (std::exchange(keeps_output_, false)) process_->StopKeepingOutput();
  chains_.clear();
  for (const MapPacket& packet : packets) {
    if (!packet.request.append()) buffer_bytes_ = 0;
    for (const int64_t bytes : packet.request.memory_bytes()) buffer_bytes_ += bytes;
    v1::RunnerRequest request;
    *request.mutable_map() = packet.request;
    ExpectedReply expected;
    expected.body = v1::RunnerReply::kMapped;
    v1::RunnerReply reply;
    std::vector<UniqueFd> files;
    std::vector<int> fds = packet.fds;
    if (packet.files) {
      for (int& fd : fds) fd = files.emplace_back(OpenedAnew(fd)).get();
      if (std::count(fds.begin(), fds.end(), -1) > 0) {
        return Fail(Shortage(v1::OUTCOME_RUNTIME_ERROR, "open buffers"));
      }
    }
    Ending ending = Exchange(&request, fds, expected, deadline, &reply);
    if (!ending.passed()) return ending;
    returns_outputs_ = reply.mapped().returns_outputs();
  }
  return AwaitStop();
}

absl::Duration RunnerLink::LeadIn(absl::Time deadline) {
  leading_in_ = true;
  const BatchReply reply = RunBatch(v1::BatchRequest(), deadline);
  leading_in_ = false;
  return reply.audit - reply.waited;
}

RunnerLink::BatchReply RunnerLink::RunBatch(const std::vector<int>& set_order,
                                            absl::Time deadline) {
  v1::BatchRequest batch;
  batch.mutable_set_order()->Add(set_order.begin(), set_order.end());
  return RunBatch(batch, deadline);
}

RunnerLink::BatchReply RunnerLink::RunBatch(const v1::BatchRequest& batch, absl::Time deadline,
                                            const std::function<void()>& meanwhile) {
  v1::RunnerRequest request;
  *request.mutable_batch() = batch;
  ExpectedReply expected;
  expected.body = v1::RunnerReply::kDone;
  ExpectTimings(batch, &expected);
  v1::RunnerReply reply;
  BatchReply result;
  const auto waited = [&] {
    return own_delay_.Read().waiting +
           (runner_delay_.has_value() ? runner_delay_->Read().waiting : absl::ZeroDuration());
  };
  JudgeRest();
  const absl::Time resumed = clock_.SteadyNow();
  Resume();
  const absl::Duration waited_before = waited();
  const absl::Duration others_before = OtherThreadsTime();
  const absl::Time start = clock_.SteadyNow();
  result.head_start = start - resumed;
  result.ending = Exchange(&request, {}, expected, deadline, &reply, meanwhile);
  result.audit = clock_.SteadyNow() - start;
  // Calls that say how long they took explain what their threads did meanwhile. What threads did
  // beyond that may have been the work itself, with the main thread waiting for its turn.
  const absl::Duration explained = TimeOf(reply.done()) * std::thread::hardware_concurrency();
  const absl::Duration others = OtherThreadsTime() - others_before;
  const absl::Duration hidden = std::max(others - explained, absl::ZeroDuration());
  const absl::Duration all_waits = waited() - waited_before;
  result.waited = std::clamp(all_waits - hidden, absl::ZeroDuration(), result.audit);
  result.waited_for_others = std::clamp(all_waits - others, absl::ZeroDuration(), result.waited);
  result.other_threads = std::max(others, absl::ZeroDuration());
  if (result.ending.passed()) {
    result.inner_ns.assign(reply.done().inner_ns().begin(), reply.done().inner_ns().end());
    result.host_ns.assign(reply.done().host_ns().begin(), reply.done().host_ns().end());
    result.queued = reply.done().queued();
    result.not_captured = CleanText(reply.done().not_captured(), kMaxMessageBytes);
  }
  if (batch.mode() == v1::BatchRequest::CHAIN) {
    chains_.erase(batch.graph());
    if (result.ending.passed() && result.not_captured.empty()) {
      chains_[batch.graph()].assign(batch.set_order().begin(), batch.set_order().end());
    }
  }
  return result;
}

bool RunnerLink::HasChain(int number, const std::vector<int>& sets) const {
  const auto made = chains_.find(number);
  return made != chains_.end() && made->second == sets;
}

Ending RunnerLink::AwaitStop() {
  if (failure_.has_value()) return *failure_;
  if (!paused_ || !runner_threads_.has_value()) return {};
  const absl::Time deadline = clock_.SteadyNow() + kStopTimeout;
  while (!runner_threads_->AllStopped()) {
    if (clock_.SteadyNow() >= deadline) {
      process_->Kill();
      return Fail({v1::OUTCOME_CHEAT,
                   "a thread of the candidate cannot be stopped: it would run while others are "
                   "timed"});
    }
    absl::SleepFor(kStopPoll);
  }
  // A thread is shown as stopped shortly before it is off its processor, and what it did since the
  // last tick is counted then.
  WhenStopped when = {runner_threads_->ProcessorTime(), runner_threads_->Turns()};
  while (clock_.SteadyNow() < deadline) {
    absl::SleepFor(kStopPoll);
    const WhenStopped again = {runner_threads_->ProcessorTime(), runner_threads_->Turns()};
    if (again.time == when.time && again.turns == when.turns) break;
    when = again;
  }
  when_stopped_ = when;
  if (HoldsMoreThan(counted_bytes_)) {
    process_->Kill();
    return Fail({v1::OUTCOME_RESOURCE_LIMIT,
                 absl::StrCat("out of memory: it holds more than ", counted_bytes_ >> 20, " MiB")});
  }
  return {};
}

bool RunnerLink::Answered() const {
  struct pollfd ready = {socket_.get(), POLLIN, 0};
  return ::poll(&ready, 1, 0) != 0;
}

Ending RunnerLink::Exchange(v1::RunnerRequest* request, const std::vector<int>& fds,
                            ExpectedReply expected, absl::Time deadline, v1::RunnerReply* reply,
                            const std::function<void()>& meanwhile) {
  JudgeRest();
  Resume();
  if (failure_.has_value()) return *failure_;
  expected.nonce = nonce_;
  expected.step = ++step_;
  request->set_nonce(expected.nonce);
  request->set_step(expected.step);
  // A packet that arrives before it was requested does not come from the runner's own code.
  struct pollfd early = {socket_.get(), POLLIN, 0};
  if (::poll(&early, 1, 0) > 0 && (early.revents & POLLIN) != 0) {
    char first;
    if (::recv(socket_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
      return Fail({v1::OUTCOME_CHEAT,
                   "forged dialogue: a message before it was asked for; only the runner may use "
                   "its control socket"});
    }
    return Fail(DescribeDeath());
  }

  std::string bytes = request->SerializeAsString();
  struct iovec part = {bytes.data(), bytes.size()};
  struct msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control(fds.empty() ? 0 : CMSG_SPACE(fds.size() * sizeof(int)));
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  }
  // One request is in flight at a time, so the buffer has room: no need to block.
  ssize_t sent;
  do {
    sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0 && IsShortage(errno)) {
    return Fail(Shortage(v1::OUTCOME_RUNTIME_ERROR, "a message to the runner"));
  }
  if (sent < 0) return Fail(DescribeDeath());

  if (meanwhile) meanwhile();
  std::string packet;
  Ending ending = ReceivePacket(deadline, &packet);
  if (!leading_in_) Pause();
  if (ending.passed()) ending = JudgeReply(packet, expected, reply);
  return ending.passed() ? ending : Fail(std::move(ending));
}

Ending RunnerLink::ReceivePacket(absl::Time deadline, std::string* packet) {
  const absl::Time asleep_from = clock_.SteadyNow() + (spin_ ? kSpinTime : absl::ZeroDuration());
  while (true) {
    struct pollfd ready = {socket_.get(), POLLIN, 0};
    if (spin_ && clock_.SteadyNow() < std::min(deadline, asleep_from)) {
      if (::poll(&ready, 1, 0) > 0) break;
      continue;
    }
    const struct timespec left =
        absl::ToTimespec(std::max(deadline - clock_.SteadyNow(), absl::ZeroDuration()));
    const int n = ::ppoll(&ready, 1, &left, nullptr);
    if (n < 0 && errno == EINTR) continue;
    // A reply that arrives after the deadline does not count; otherwise chance would decide.
    if (clock_.SteadyNow() < deadline) {
      if (n > 0) break;
      continue;
    }
    // Short of what a control group gives, the kernel may try for long to find a page.
    const bool holds_too_much = HoldsMoreThan(counted_bytes_ / 10 * 9 - own_bytes_);
    process_->Kill();
    if (!exit_.has_value()) exit_ = process_->Wait(clock_.SteadyNow() + kReapTimeout);
    if (holds_too_much || (exit_.has_value() && exit_->memory_limit_hit)) {
      return {v1::OUTCOME_RESOURCE_LIMIT,
              absl::StrCat("out of memory ", loading_ ? "while loading" : "in a call")};
    }
    return {v1::OUTCOME_TIMEOUT, loading_ ? "loading did not end within its limit"
                                          : "a call did not end within its limit"};
  }
  packet->resize(static_cast<size_t>(kMaxReplyBytes));
  struct iovec part = {packet->data(), packet->size()};
  struct msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  ssize_t n;
  do {
    n = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && IsShortage(errno)) {
    return Shortage(v1::OUTCOME_RUNTIME_ERROR, "a message of the runner");
  }
  if (n <= 0) return DescribeDeath();
  // No room was given for descriptors: whatever was attached is closed already.
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return {v1::OUTCOME_CHEAT, "forged dialogue: an oversized packet or one with descriptors"};
  }
  packet->resize(static_cast<size_t>(n));
  return {};
}

void RunnerLink::LearnSender(absl::Time deadline) {
  struct pollfd ready = {socket_.get(), POLLIN, 0};
  const struct timespec left =
      absl::ToTimespec(std::max(deadline - clock_.SteadyNow(), absl::ZeroDuration()));
  if (::ppoll(&ready, 1, &left, nullptr) > 0) {
    char first;
    struct iovec part = {&first, 1};
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(socket_.get(), &message, MSG_PEEK | MSG_DONTWAIT) > 0) {
      const struct cmsghdr* header = CMSG_FIRSTHDR(&message);
      if (header != nullptr && header->cmsg_type == SCM_CREDENTIALS) {
        struct ucred sender;
        std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
        runner_delay_.emplace(RunQueueDelay::OfProcess(sender.pid));
        runner_threads_.emplace(sender.pid);
        runner_pid_ = sender.pid;
        // It waits for our answer to HELLO, so the pid is still its own.
        runner_pidfd_.Reset(static_cast<int>(::syscall(SYS_pidfd_open, sender.pid, 0)));
        cannot_watch_ = !runner_pidfd_.ok() && IsShortage(errno);
      }
    }
  }
  const int off = 0;  // later packets must come with nothing attached
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &off, sizeof off);
}

absl::Status RunnerLink::AwaitHello() {
  if (greeted_) return absl::OkStatus();
  const absl::Time deadline = clock_.SteadyNow() + kStartTimeout;
  if (!ready_) LearnSender(deadline);
  std::string packet;
  Ending ending = ReceivePacket(deadline, &packet);
  v1::RunnerReply hello;
  if (ending.passed()) {
    ExpectedReply expected;
    expected.body = v1::RunnerReply::kHello;
    if (runner_threads_.has_value()) {
      own_bytes_ = std::max(kMinOwnBytes, runner_threads_->ResidentBytes());
    }
    ending = JudgeReply(packet, expected, &hello);
  }
  if (!ending.passed()) {
    return NotStarted(hello.has_error() ? hello.error().text() : ending.message);
  }
  if (cannot_watch_) return NotStarted("there is no descriptor left to stop it with");
  tight_filter_ = hello.hello().tight_seccomp();
  allow_list_ = hello.hello().allow_list();
  greeted_ = true;
  return absl::OkStatus();
}

Ending RunnerLink::DescribeDeath() {
  // The kernel closes a process's socket when all its threads are on their way out, and the
  // runner's own code keeps it open.
  if (!exit_.has_value() && runner_threads_.has_value() && !runner_threads_->Exiting() &&
      !RunnerEnded()) {
    process_->Kill();
    return {v1::OUTCOME_CHEAT, "the candidate closed the runner's control socket"};
  }
  if (!exit_.has_value()) exit_ = process_->Wait(clock_.SteadyNow() + kReapTimeout);
  if (!exit_.has_value() && RunnerEnded()) {
    exit_ = process_->Wait(clock_.SteadyNow() + kLateReapTimeout);
  }
  if (!exit_.has_value()) {
    process_->Kill();
    return {v1::OUTCOME_CHEAT, "the candidate closed the runner's control socket"};
  }
  return EndingOfExit(*exit_, loading_);
}

absl::Duration RunnerLink::OtherThreadsTime() const {
  if (!runner_threads_.has_value() || !runner_delay_.has_value()) return absl::ZeroDuration();
  const std::optional<absl::Duration> all = runner_threads_->ProcessorTime();
  return all.has_value() ? *all - runner_delay_->Read().running : absl::ZeroDuration();
}

bool RunnerLink::RunnerEnded() const {
  struct pollfd ended = {runner_pidfd_.get(), POLLIN, 0};
  return runner_pidfd_.ok() && ::poll(&ended, 1, 0) > 0;
}

bool RunnerLink::HoldsMoreThan([[maybe_unused]] int64_t bytes) const {
#ifdef KSEARCH_SANITIZED  // a sanitizer holds more than any limit
  return false;
#else
  return counted_bytes_ > 0 && runner_threads_.has_value() &&
         runner_threads_->ResidentBytes() - buffer_bytes_ > bytes + own_bytes_;
#endif
}

void RunnerLink::Pause() {
  if (!runner_pidfd_.ok() || paused_) return;
  paused_ = ::syscall(SYS_pidfd_send_signal, runner_pidfd_.get(), SIGSTOP, nullptr, 0) == 0;
}

void RunnerLink::JudgeRest() {
  if (!paused_) return;
  if (const auto before = std::exchange(when_stopped_, std::nullopt);
      before.has_value() && before->time.has_value()) {
    const std::optional<absl::Duration> now = runner_threads_->ProcessorTime();
    // A thread that was not put on a processor did not run, whatever was counted late.
    const std::optional<int64_t> turns = runner_threads_->Turns();
    const bool had_a_turn = !turns.has_value() || turns != before->turns;
    if (now.has_value() && *now - *before->time > kMaxTimeWhileStopped && had_a_turn) {
      Fail({v1::OUTCOME_CHEAT,
            absl::StrCat("the candidate ran for ", absl::FormatDuration(*now - *before->time),
                         " while it was stopped")});
    }
  }
}

void RunnerLink::Resume() {
  if (!paused_) return;
  ::syscall(SYS_pidfd_send_signal, runner_pidfd_.get(), SIGCONT, nullptr, 0);
  paused_ = false;
}

Ending RunnerLink::Fail(Ending ending) {
  if (!failure_.has_value()) failure_ = std::move(ending);
  return *failure_;
}

bool RunnerLink::End(absl::Time deadline) {
  Resume();
  if (!exit_.has_value()) {
    v1::RunnerRequest request;
    request.set_nonce(nonce_);
    request.set_step(++step_);
    request.mutable_exit();
    const std::string bytes = request.SerializeAsString();
    // A runner that is gone already needs no request.
    ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    exit_ = process_->Wait(deadline);
  }
  if (!failure_.has_value()) failure_ = Ending{v1::OUTCOME_RUNTIME_ERROR, "the runner has ended"};
  if (exit_.has_value()) return true;
  process_->Kill();
  return false;
}

std::string RunnerLink::EndAndReadOutput(int64_t max_bytes) {
  process_->Kill();
  if (!exit_.has_value()) exit_ = process_->Wait(clock_.SteadyNow() + kReapTimeout);
  if (!failure_.has_value()) failure_ = Ending{v1::OUTCOME_RUNTIME_ERROR, "the runner has ended"};
  return exit_.has_value() ? CleanText(exit_->output, max_bytes) : "";
}

}  // namespace ksearch
