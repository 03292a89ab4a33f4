#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_IMAGE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_IMAGE_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "proto/runner.pb.h"

namespace ksearch {

// A built program, its bytes checked against their SHA-256 and copied into a sealed memfd, so that
// what was checked is what gets loaded, by whatever uid the runner has.
class ProgramImage {
 public:
  // FAILED_PRECONDITION if the bytes are not those that `artifact` names.
  static absl::StatusOr<ProgramImage> Open(const v1::Artifact& artifact);

  const std::string& id() const { return id_; }
  const std::string& sha256() const { return sha256_; }
  int fd() const { return fd_.get(); }

 private:
  ProgramImage(std::string id, std::string sha256, UniqueFd fd)
      : id_(std::move(id)), sha256_(std::move(sha256)), fd_(std::move(fd)) {}

  std::string id_;
  std::string sha256_;
  UniqueFd fd_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROGRAM_IMAGE_H_
