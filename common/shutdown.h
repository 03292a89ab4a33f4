#ifndef KSEARCH_COMMON_SHUTDOWN_H_
#define KSEARCH_COMMON_SHUTDOWN_H_

#include <functional>
#include <thread>

namespace ksearch {

// Turns SIGTERM and SIGINT into one callback on a thread of its own; a second signal ends the
// process at once with status 130. Blocks both signals in the calling thread and every thread
// started later, so construct it first thing in main. SIGPIPE is ignored.
class ShutdownSignals {
 public:
  ShutdownSignals();
  // Joins the thread. Signals that arrive later are lost.
  ~ShutdownSignals();
  ShutdownSignals(const ShutdownSignals&) = delete;
  ShutdownSignals& operator=(const ShutdownSignals&) = delete;

  // Starts listening; `on_signal` runs at most once. Call once.
  void Listen(std::function<void()> on_signal);

 private:
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_SHUTDOWN_H_
