#ifndef KSEARCH_GPU_WORKER_SANDBOX_OUTPUT_CAPTURE_H_
#define KSEARCH_GPU_WORKER_SANDBOX_OUTPUT_CAPTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "common/unique_fd.h"

namespace ksearch {

// Reads a pipe to its end on a thread of its own, so that a program that prints is never held up
// by a full pipe. Keeps the first bytes and counts the rest. Thread-safe.
class OutputCapture {
 public:
  // A program may print this many times what is kept before it counts as flooding.
  static constexpr int64_t kFloodFactor = 64;

  struct Captured {
    std::string text;
    bool truncated = false;
    bool flooded = false;
  };

  // `on_flood` is called at most once, from the reading thread.
  static absl::StatusOr<std::unique_ptr<OutputCapture>> Start(int64_t keep_bytes,
                                                              std::function<void()> on_flood);
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // The end to hand to the program; close it here once the program has it.
  int write_fd() const { return write_end_.get(); }
  void CloseWriteEnd() { write_end_.Reset(); }

  // Reads what is in the pipe; all that comes later is dropped.
  void StopKeeping();

  // Waits until every writer is gone, but no longer than `grace`, and returns what came.
  Captured Finish(absl::Duration grace);

 private:
  OutputCapture(int64_t keep_bytes, std::function<void()> on_flood, UniqueFd read_end,
                UniqueFd write_end, UniqueFd wake);
  void Loop();
  void Wake();
  bool ProcessRequests();
  // Returns true if the pipe is empty just now.
  bool PipeEmpty() const;

  const int64_t keep_bytes_;
  const std::function<void()> on_flood_;
  const UniqueFd read_end_;
  UniqueFd write_end_;
  const UniqueFd wake_;  // eventfd; readable = a request below is new
  Mutex mu_;
  CondVar changed_;
  Captured captured_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;    // asked to stop reading
  bool emptying_ ABSL_GUARDED_BY(mu_) = false;  // asked to stop keeping
  bool dropping_ ABSL_GUARDED_BY(mu_) = false;  // keeps nothing from now on
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_OUTPUT_CAPTURE_H_
