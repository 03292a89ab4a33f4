#include "common/shutdown.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace ksearch {
namespace {

// Wakes the listening thread so that it ends; never sent from outside.
constexpr int kStopListening = SIGUSR2;

sigset_t WatchedSignals(bool notice) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, kStopListening);
  if (notice) sigaddset(&set, SIGUSR1);
  return set;
}

}  // namespace

ShutdownSignals::ShutdownSignals(bool notice) : notice_(notice) {
  const sigset_t set = WatchedSignals(notice_);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

ShutdownSignals::~ShutdownSignals() {
  if (thread_.joinable()) {
    pthread_kill(thread_.native_handle(), kStopListening);
    thread_.join();
  }
}

void ShutdownSignals::Listen(std::function<void()> on_signal, std::function<void()> on_notice) {
  thread_ = std::thread([notice = notice_, callback = std::move(on_signal),
                         on_notice = std::move(on_notice)]() mutable {
    const sigset_t set = WatchedSignals(notice);
    bool called = false;
    while (true) {
      int signal_number = 0;
      if (sigwait(&set, &signal_number) != 0) continue;
      if (signal_number == kStopListening) return;
      if (signal_number == SIGUSR1) {
        if (on_notice) std::exchange(on_notice, nullptr)();
        continue;
      }
      if (called) _exit(130);
      called = true;
      callback();
    }
  });
}

}  // namespace ksearch
