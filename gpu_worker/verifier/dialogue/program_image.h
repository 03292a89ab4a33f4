#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_IMAGE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_IMAGE_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/unique_fd.h"
#include "proto/runner.pb.h"

namespace ksearch {

// A built program whose bytes were checked against their SHA-256. A single file is copied into a
// sealed memfd, so that exactly the checked bytes are loaded, whatever uid the runner has. A folder
// stays where it is, and each runner sees its program's folder read-only as kShownAs: compilers'
// caches record paths, so these must be the same in all processes. Only the worker may write there.
class ProgramImage {
 public:
  static constexpr char kShownAs[] = "/program";
  // The largest program that Open accepts; far above Limits.artifact_bytes, which the builder
  // enforces.
  static constexpr int64_t kMaxBytes = int64_t{1} << 30;

  // FAILED_PRECONDITION if the bytes are not those that `artifact` names.
  static absl::StatusOr<ProgramImage> Open(const v1::Artifact& artifact);

  const std::string& id() const { return artifact_.id(); }
  const std::string& sha256() const { return artifact_.sha256(); }
  bool is_folder() const { return !fd_.ok(); }
  // Only for a file: a sealed copy for one runner. From a file shared with earlier processes, a
  // process could learn how many there were and when, by the file's offset, times and inode number.
  absl::StatusOr<UniqueFd> CopyForRunner() const;
  // Only for a folder: its path on this machine, and the path of the file to load as its runner
  // sees it; both absolute.
  const std::string& folder() const { return artifact_.path(); }
  std::string main_path() const { return std::string(kShownAs) + "/" + artifact_.main_file(); }
  // Null: ksearch-runner.
  const v1::RunnerCommand* runner() const {
    return artifact_.has_runner() ? &artifact_.runner() : nullptr;
  }
  // How long loading may take.
  absl::Duration load_time() const;

 private:
  ProgramImage(v1::Artifact artifact, UniqueFd fd)
      : artifact_(std::move(artifact)), fd_(std::move(fd)) {}

  v1::Artifact artifact_;
  UniqueFd fd_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_IMAGE_H_
