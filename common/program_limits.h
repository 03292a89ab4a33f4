#ifndef KSEARCH_COMMON_PROGRAM_LIMITS_H_
#define KSEARCH_COMMON_PROGRAM_LIMITS_H_

#include <cstdint>

namespace ksearch {

// The largest program that a search takes from a model's reply or a person: all files together, and
// how many.
inline constexpr int64_t kMaxSourceBytes = 256 << 10;
inline constexpr int kMaxSourceFiles = 16;

}  // namespace ksearch

#endif  // KSEARCH_COMMON_PROGRAM_LIMITS_H_
