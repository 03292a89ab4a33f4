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

// Reads a pipe to its end on its own thread, so that a program that prints is never blocked by a
// full pipe. Keeps the first bytes and counts the rest. Thread-safe.
class OutputCapture {
 public:
  // A program that prints more than this many times the kept size is flooding.
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

  // The end for the program; close it here once the program has it.
  int write_fd() const { return write_end_.get(); }
  void CloseWriteEnd() { write_end_.Reset(); }

  // Reads the bytes in the pipe; everything that arrives later is dropped.
  void StopKeeping();

  // Waits until every writer is gone, but no longer than `grace`, and returns the output.
  Captured Finish(absl::Duration grace);

 private:
  OutputCapture(int64_t keep_bytes, std::function<void()> on_flood, UniqueFd read_end,
                UniqueFd write_end, UniqueFd wake);
  void Loop();
  void Wake();
  bool ProcessRequests();
  // Returns true if the pipe is empty at this moment.
  bool PipeEmpty() const;

  const int64_t keep_bytes_;
  const std::function<void()> on_flood_;
  const UniqueFd read_end_;
  UniqueFd write_end_;
  const UniqueFd wake_;  // eventfd; readable if one of the requests below is new
  Mutex mu_;
  CondVar changed_;
  Captured captured_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;    // requested to stop reading
  bool emptying_ ABSL_GUARDED_BY(mu_) = false;  // requested to stop keeping
  bool dropping_ ABSL_GUARDED_BY(mu_) = false;  // drops everything from now on
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_OUTPUT_CAPTURE_H_
