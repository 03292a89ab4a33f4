#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_ELEMENT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_ELEMENT_H_

#include <cstddef>
#include <cstdint>

#include "proto/task.pb.h"

namespace ksearch {

// Element formats, decoded to and encoded from double. float8_e4m3fn: bias 7, no infinity, largest
// 448, NaN 0x7F; float8_e5m2: bias 15, infinity and NaN as IEEE. float4 is refused before it gets
// here (ElementBytes).

bool IsFloating(v1::DType dtype);

// `count` elements from `source` (any alignment). int64 beyond 2^53 rounds.
void DecodeElements(v1::DType dtype, const std::byte* source, int64_t count, double* out);
double DecodeElement(v1::DType dtype, const std::byte* source);

// Rounds to nearest, ties to even. Floats overflow to infinity (NaN for float8_e4m3fn, as torch's
// cast does); integers saturate; bool is value != 0.
void EncodeElement(v1::DType dtype, double value, std::byte* out);

// Half the distance between neighbors near 1: the relative rounding error of the format. 0 for
// integers.
double RelativeRounding(v1::DType dtype);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_ELEMENT_H_
