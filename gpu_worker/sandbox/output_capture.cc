#include "gpu_worker/sandbox/output_capture.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/status_macros.h"

namespace ksearch {

absl::StatusOr<std::unique_ptr<OutputCapture>> OutputCapture::Start(
    int64_t keep_bytes, std::function<void()> on_flood) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for output");
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake.ok()) return ErrnoStatus(errno, "eventfd");
  return std::unique_ptr<OutputCapture>(new OutputCapture(
      keep_bytes, std::move(on_flood), std::move(read_end), std::move(write_end), std::move(wake)));
}

OutputCapture::OutputCapture(int64_t keep_bytes, std::function<void()> on_flood, UniqueFd read_end,
                             UniqueFd write_end, UniqueFd wake)
    : keep_bytes_(keep_bytes),
      on_flood_(std::move(on_flood)),
      read_end_(std::move(read_end)),
      write_end_(std::move(write_end)),
      wake_(std::move(wake)),
      thread_([this] { Loop(); }) {}

OutputCapture::~OutputCapture() {
  {
    MutexLock lock(&mu_);
    ending_ = true;
  }
  Wake();
  thread_.join();
}

void OutputCapture::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_.get(), &one, sizeof one);
}

void OutputCapture::StopKeeping() {
  {
    MutexLock lock(&mu_);
    emptying_ = true;
  }
  Wake();
  MutexLock lock(&mu_);
  while (!dropping_ && !ended_) changed_.Wait(&mu_);
}

bool OutputCapture::PipeEmpty() const {
  int bytes = 0;
  return ::ioctl(read_end_.get(), FIONREAD, &bytes) != 0 || bytes == 0;
}

// Returns true to stop reading.
bool OutputCapture::ProcessRequests() {
  MutexLock lock(&mu_);
  // The output of a program that prints endlessly is never drained; the kept part is full by then.
  const bool full = static_cast<int64_t>(captured_.text.size()) >= keep_bytes_;
  if (emptying_ && !dropping_ && (full || PipeEmpty())) {
    dropping_ = true;
    changed_.NotifyAll();
  }
  return ending_;
}

OutputCapture::Captured OutputCapture::Finish(absl::Duration grace) {
  const absl::Time deadline = Clock::Real().SteadyNow() + grace;
  MutexLock lock(&mu_);
  while (!ended_) {
    const absl::Duration left = deadline - Clock::Real().SteadyNow();
    if (left <= absl::ZeroDuration()) break;
    changed_.WaitFor(&mu_, left);
  }
  return captured_;
}

void OutputCapture::Loop() {
  std::vector<char> buffer(64 << 10);
  int64_t seen = 0;
  while (true) {
    struct pollfd fds[2] = {{read_end_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if (fds[1].revents != 0) {
      uint64_t requests;
      [[maybe_unused]] const ssize_t n = ::read(wake_.get(), &requests, sizeof requests);
    }
    if (ProcessRequests()) break;
    if (fds[0].revents == 0) continue;
    const ssize_t n = ::read(read_end_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    bool flooded_now = false;
    {
      MutexLock lock(&mu_);
      const int64_t room =
          dropping_
              ? 0
              : std::max<int64_t>(0, keep_bytes_ - static_cast<int64_t>(captured_.text.size()));
      captured_.text.append(buffer.data(), static_cast<size_t>(std::min<int64_t>(n, room)));
      captured_.truncated |= n > room && !dropping_;
      seen += n;
      flooded_now = !captured_.flooded && seen > kFloodFactor * keep_bytes_;
      captured_.flooded |= flooded_now;
    }
    if (flooded_now) on_flood_();
    if (ProcessRequests()) break;
  }
  MutexLock lock(&mu_);
  ended_ = true;
  changed_.NotifyAll();
}

}  // namespace ksearch
