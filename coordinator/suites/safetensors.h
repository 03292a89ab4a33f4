#ifndef KSEARCH_COORDINATOR_SUITES_SAFETENSORS_H_
#define KSEARCH_COORDINATOR_SUITES_SAFETENSORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/suites/recorded_blobs.h"
#include "proto/task.pb.h"

namespace ksearch {

// The largest file header that is read; the format allows 100 MB.
inline constexpr int64_t kMaxSafetensorsHeaderBytes = 4 << 20;

// The position of one tensor in a .safetensors file.
struct SafetensorsEntry {
  std::string dtype;  // in the format's spelling: "F32", "BF16", "I64", ...
  std::vector<int64_t> shape;
  int64_t begin = 0;  // offset in bytes from the end of the header
  int64_t end = 0;
};

// Finds `key` in the header, a JSON object, of a file with `data_bytes` bytes of data.
// INVALID_ARGUMENT: a bad header, or offsets beyond the data; NOT_FOUND names a few existing keys.
absl::StatusOr<SafetensorsEntry> FindInSafetensorsHeader(absl::string_view header,
                                                         absl::string_view file,
                                                         absl::string_view key, int64_t data_bytes);

// Returns the range of tensor `key` in the file, dense and little-endian; it must have this dtype
// and shape. NOT_FOUND: no such file or tensor; FAILED_PRECONDITION: the file is a pointer of Git
// LFS; otherwise INVALID_ARGUMENT. Messages name the file.
absl::StatusOr<FileRange> FindSafetensor(const std::string& path, absl::string_view key,
                                         v1::DType dtype, const std::vector<int64_t>& shape);

// Returns the bytes of that range. RESOURCE_EXHAUSTED: more than `max_bytes`; otherwise as
// FindSafetensor.
absl::StatusOr<std::string> ReadSafetensor(const std::string& path, absl::string_view key,
                                           v1::DType dtype, const std::vector<int64_t>& shape,
                                           int64_t max_bytes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SAFETENSORS_H_
