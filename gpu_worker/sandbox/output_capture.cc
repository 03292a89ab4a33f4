#include "gpu_worker/sandbox/output_capture.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
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
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop.ok()) return ErrnoStatus(errno, "eventfd");
  return std::unique_ptr<OutputCapture>(new OutputCapture(
      keep_bytes, std::move(on_flood), std::move(read_end), std::move(write_end), std::move(stop)));
}

OutputCapture::OutputCapture(int64_t keep_bytes, std::function<void()> on_flood, UniqueFd read_end,
                             UniqueFd write_end, UniqueFd stop)
    : keep_bytes_(keep_bytes),
      on_flood_(std::move(on_flood)),
      read_end_(std::move(read_end)),
      write_end_(std::move(write_end)),
      stop_(std::move(stop)),
      thread_([this] { Loop(); }) {}

OutputCapture::~OutputCapture() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
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
    struct pollfd fds[2] = {{read_end_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if (fds[1].revents != 0) break;
    if (fds[0].revents == 0) continue;
    const ssize_t n = ::read(read_end_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    bool flooded_now = false;
    {
      MutexLock lock(&mu_);
      const int64_t room =
          std::max<int64_t>(0, keep_bytes_ - static_cast<int64_t>(captured_.text.size()));
      captured_.text.append(buffer.data(), static_cast<size_t>(std::min<int64_t>(n, room)));
      captured_.truncated |= n > room;
      seen += n;
      flooded_now = !captured_.flooded && seen > kFloodFactor * keep_bytes_;
      captured_.flooded |= flooded_now;
    }
    if (flooded_now) on_flood_();
  }
  MutexLock lock(&mu_);
  ended_ = true;
  changed_.NotifyAll();
}

}  // namespace ksearch
