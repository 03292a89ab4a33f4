#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_POISON_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_POISON_H_

#include <cstddef>
#include <cstdint>

#include "proto/task.pb.h"

namespace ksearch {

// What outputs hold before a call: for float types a NaN that no arithmetic makes by itself and
// that changes with `salt`, for integers arbitrary bits. Eight bytes, repeated.
uint64_t PoisonWord(v1::DType dtype, uint64_t salt);

void FillPoison(uint64_t word, std::byte* out, int64_t bytes);

// Whether memory of `bytes` bytes still shows poison. Floating types: any element does. Integer
// types, where poison is a legal value: all of it does, and it is at least 8 bytes long.
bool ShowsPoison(v1::DType dtype, uint64_t word, const std::byte* memory, int64_t bytes);

// Whether memory is as FillPoison left it, to the last byte.
bool IsAllPoison(uint64_t word, const std::byte* memory, int64_t bytes);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_POISON_H_
