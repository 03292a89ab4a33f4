#include "common/shutdown.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace ksearch {
namespace {

// Wakes the listening thread so that it ends; never sent from outside.
constexpr int kStopListening = SIGUSR2;

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, kStopListening);
  return set;
}

}  // namespace

ShutdownSignals::ShutdownSignals() {
  const sigset_t set = WatchedSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

ShutdownSignals::~ShutdownSignals() {
  if (thread_.joinable()) {
    pthread_kill(thread_.native_handle(), kStopListening);
    thread_.join();
  }
}

void ShutdownSignals::Listen(std::function<void()> on_signal) {
  thread_ = std::thread([callback = std::move(on_signal)] {
    const sigset_t set = WatchedSignals();
    bool called = false;
    while (true) {
      int signal_number = 0;
      if (sigwait(&set, &signal_number) != 0) continue;
      if (signal_number == kStopListening) return;
      if (called) _exit(130);
      called = true;
      callback();
    }
  });
}

}  // namespace ksearch
