#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_POISON_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_POISON_H_

#include <cstddef>
#include <cstdint>

#include "proto/task.pb.h"

namespace ksearch {

// The pattern that outputs contain before a call, eight bytes long and repeated. For float types it
// is a NaN that no arithmetic produces and that depends on `salt`; for integers, arbitrary bits.
uint64_t PoisonWord(v1::DType dtype, uint64_t salt);

void FillPoison(uint64_t word, std::byte* out, int64_t bytes);

// Returns true if `bytes` bytes of memory still show poison. For floating types, if any element
// does. For integer types, where poison is a legal value, if all of the memory does and it is at
// least 8 bytes long.
bool ShowsPoison(v1::DType dtype, uint64_t word, const std::byte* memory, int64_t bytes);

// Returns true if every byte of the memory is as FillPoison left it.
bool IsAllPoison(uint64_t word, const std::byte* memory, int64_t bytes);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_POISON_H_
