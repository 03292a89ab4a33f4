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

// Parses the output of ncu with NcuArguments: one row per launch under a row of names and a row of
// units ("--page raw"), or one row per metric (other pages), among lines of ncu's own ("==PROF==
// ...") and the candidate's output. Metrics that are missing, "n/a" or not a number stay absent and
// are named in the note. If ncu complains instead of listing kernels, the result is a profile with
// `absence` and the complaint as its note: NOT_PERMITTED, NO_PROFILER or FAILED. The caller fills
// in `workload_uuid`, `tool` and `calls`. INVALID_ARGUMENT: neither kernels nor a complaint;
// RESOURCE_EXHAUSTED: longer than kMaxNcuOutputBytes. Names are made printable and limited in
// length; numbers are finite and not negative.
absl::StatusOr<v1::Profile> ParseNcuCsv(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_PROFILE_NCU_CSV_H_
