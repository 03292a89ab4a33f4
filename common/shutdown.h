#ifndef KSEARCH_COMMON_SHUTDOWN_H_
#define KSEARCH_COMMON_SHUTDOWN_H_

#include <functional>
#include <thread>

namespace ksearch {

// Turns SIGTERM and SIGINT into one callback on a thread of its own; a second one of them ends the
// process at once with status 130. Blocks the signals in the calling thread and every thread
// started later, so construct it at the beginning of main. SIGPIPE is ignored.
class ShutdownSignals {
 public:
  // With `notice`, also listens to SIGUSR1, which may arrive any number of times: batch systems
  // send it some time before they end a process.
  explicit ShutdownSignals(bool notice = false);
  // Joins the thread. Signals that arrive later are lost.
  ~ShutdownSignals();
  ShutdownSignals(const ShutdownSignals&) = delete;
  ShutdownSignals& operator=(const ShutdownSignals&) = delete;

  // Starts listening. `on_signal` runs at most once for SIGTERM and SIGINT, and `on_notice` at most
  // once for SIGUSR1. Call once.
  void Listen(std::function<void()> on_signal, std::function<void()> on_notice = nullptr);

 private:
  const bool notice_;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_SHUTDOWN_H_
