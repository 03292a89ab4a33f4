#ifndef KSEARCH_GPU_WORKER_RUNNER_MAPPED_BUFFERS_H_
#define KSEARCH_GPU_WORKER_RUNNER_MAPPED_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/call_turns.h"
#include "common/unique_fd.h"
#include "gpu_worker/runner/argument_blocks.h"
#include "proto/runner.pb.h"

namespace ksearch {

// The verifier's buffers for one workload, mapped, as one argument block per buffer set.
class MappedBuffers {
 public:
  MappedBuffers() = default;
  ~MappedBuffers() { Clear(); }
  MappedBuffers(const MappedBuffers&) = delete;
  MappedBuffers& operator=(const MappedBuffers&) = delete;

  // Maps the request's buffers; without `append`, everything mapped before is unmapped first.
  // Returns false with errno in *error_number and the reason in *error.
  bool Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds, int* error_number,
           std::string* error);
  // Gives every block `bytes` of scratch memory (0: none) between two inaccessible pages, filled as
  // the request says, otherwise with a pattern that is not a plausible value.
  bool AllocateWorkspace(int64_t bytes, int* error_number, std::string* error);

  const ArgumentBlocks& blocks() const { return blocks_; }
  // Null if no page of MapRequest.turns is mapped.
  CallTurns* turns() const { return turns_; }

 private:
  struct Mapping {
    void* address;
    size_t bytes;
  };
  void Clear();

  std::vector<Mapping> mappings_;
  CallTurns* turns_ = nullptr;  // one of the mappings
  int workspace_fill_ = 0;
  ArgumentBlocks blocks_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_MAPPED_BUFFERS_H_
