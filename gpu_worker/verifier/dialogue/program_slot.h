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

// The program folder (ProgramImage::kShownAs) of a runner that is started before its program is
// known. It is empty until Fill, and the destructor removes it. No other runner ever sees it.
// Thread-compatible.
class ProgramSlot {
 public:
  // Makes a new folder in `folder`. `writable` names a subfolder that the runner may write to;
  // empty: none.
  static absl::StatusOr<std::unique_ptr<ProgramSlot>> Make(const std::string& folder,
                                                           const std::string& writable);
  ~ProgramSlot();
  ProgramSlot(const ProgramSlot&) = delete;
  ProgramSlot& operator=(const ProgramSlot&) = delete;

  const std::string& path() const { return path_; }  // absolute

  // Copies the files of `program`, a folder, into the slot and checks the digest of the copies. No
  // other process shares the copies, and all have one fixed modification time: the original files
  // would reveal when the program was built and how many processes used it before. The program must
  // have no files in `writable`. Call it once.
  absl::Status Fill(const ProgramImage& program);

  // Moves the files that the runner left in `writable` to `folder`, replacing it. The runner must
  // have ended.
  absl::Status MoveWritten(const std::string& folder);

 private:
  ProgramSlot(std::string path, std::string writable)
      : path_(std::move(path)), writable_(std::move(writable)) {}

  const std::string path_;
  const std::string writable_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_SLOT_H_
