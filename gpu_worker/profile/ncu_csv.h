#ifndef KSEARCH_GPU_WORKER_PROFILE_NCU_CSV_H_
#define KSEARCH_GPU_WORKER_PROFILE_NCU_CSV_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/profile.pb.h"

namespace ksearch {

inline constexpr size_t kMaxNcuOutputBytes = 8 << 20;
inline constexpr int kMaxProfiledKernels = 16;  // Profile.kernels
inline constexpr size_t kMaxProfileNoteBytes = 1 << 10;

// Reads what ncu prints when called with NcuArguments: one row a launch under a row of names and a
// row of units ("--page raw"), or one row a metric (other pages), among lines of its own ("==PROF==
// ...") and whatever the candidate printed. Metrics that are not there, "n/a" or no number stay
// absent and are named in the note. Output with ncu's complaint in place of kernels is a profile
// with `absence` and the complaint as its note: NOT_PERMITTED, NO_PROFILER or FAILED.
// `workload_uuid`, `tool` and `calls` are left to the caller. INVALID_ARGUMENT: neither kernels nor
// a complaint; RESOURCE_EXHAUSTED: longer than kMaxNcuOutputBytes. Names are made printable and
// bounded; numbers are finite and not negative.
absl::StatusOr<v1::Profile> ParseNcuCsv(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_PROFILE_NCU_CSV_H_
