#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_SLOT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_SLOT_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/dialogue/program_image.h"

namespace ksearch {

// The program's folder of one runner (ProgramImage::kShownAs) that is started before its program is
// known: empty until Fill, removed by the destructor. No other runner ever sees it.
// Thread-compatible.
class ProgramSlot {
 public:
  // A new folder in `folder`. `writable`: the name of a folder in it that the runner writes to;
  // empty: none.
  static absl::StatusOr<std::unique_ptr<ProgramSlot>> Make(const std::string& folder,
                                                           const std::string& writable);
  ~ProgramSlot();
  ProgramSlot(const ProgramSlot&) = delete;
  ProgramSlot& operator=(const ProgramSlot&) = delete;

  const std::string& path() const { return path_; }  // absolute

  // Shows the files of `program`, a folder, and has its digest again from what is shown. They are
  // copies that no other process has, all changed at one time long ago: of the files themselves, a
  // program could learn when it was built and how many processes had it before. The program has no
  // files in `writable`. Once.
  absl::Status Fill(const ProgramImage& program);

  // Moves what the runner, which has ended, left in `writable` to `folder`, which is replaced.
  absl::Status MoveWritten(const std::string& folder);

 private:
  ProgramSlot(std::string path, std::string writable)
      : path_(std::move(path)), writable_(std::move(writable)) {}

  const std::string path_;
  const std::string writable_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_SLOT_H_
