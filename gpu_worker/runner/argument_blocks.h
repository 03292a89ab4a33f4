#ifndef KSEARCH_GPU_WORKER_RUNNER_ARGUMENT_BLOCKS_H_
#define KSEARCH_GPU_WORKER_RUNNER_ARGUMENT_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/runner.pb.h"

namespace ksearch {

// The argument blocks of ksearch_run for one workload, one per buffer set, as 8-byte slots. The
// last two slots of a block are the workspace and its size.
class ArgumentBlocks {
 public:
  // Discards everything and makes the blocks for a MAP without `append`. Returns false with the
  // reason in *error.
  bool Start(const v1::MapRequest& request, std::string* error);
  // Returns true if every buffer of the request names a set and a slot of Start, and a place within
  // one of the request's `fds` pieces of memory. Otherwise returns false with the reason in *error.
  bool Fits(const v1::MapRequest& request, size_t fds, std::string* error) const;
  // `address` of the tensor's first byte.
  void SetBuffer(const v1::MappedBuffer& buffer, uint64_t address);
  void SetWorkspace(uint64_t address, int64_t bytes);
  // The input tensors of a set in the order of their slots, so far as the verifier gave their
  // lengths.
  struct Input {
    int slot = 0;
    uint64_t address = 0;
    int64_t bytes = 0;
  };
  const std::vector<Input>& inputs(int set) const { return inputs_[static_cast<size_t>(set)]; }

  // Returns true if every buffer of every set is known.
  bool Complete() const;

  // A block with only null pointers, for asking for the workspace size.
  const std::vector<uint64_t>& blank() const { return blank_; }
  // The meaning of all slots of a block except the last two.
  const std::vector<v1::ArgumentSlot>& slots() const { return slots_; }
  int sets() const { return static_cast<int>(blocks_.size()); }
  const std::vector<uint64_t>& block(int set) const { return blocks_[static_cast<size_t>(set)]; }
  void Clear() {
    blocks_.clear();
    inputs_.clear();
  }

 private:
  std::vector<v1::ArgumentSlot> slots_;
  std::vector<uint64_t> blank_;
  std::vector<std::vector<uint64_t>> blocks_;
  std::vector<std::vector<Input>> inputs_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_ARGUMENT_BLOCKS_H_
