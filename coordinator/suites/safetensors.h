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

// Largest header of a file that is read; the format allows 100 MB.
inline constexpr int64_t kMaxSafetensorsHeaderBytes = 4 << 20;

// Where one tensor lies in a .safetensors file.
struct SafetensorsEntry {
  std::string dtype;  // as the format spells it: "F32", "BF16", "I64", ...
  std::vector<int64_t> shape;
  int64_t begin = 0;  // bytes after the header
  int64_t end = 0;
};

// Finds `key` in the header, a JSON object, of a file with `data_bytes` bytes of data.
// INVALID_ARGUMENT: a bad header, or offsets beyond the data; NOT_FOUND names a few existing keys.
absl::StatusOr<SafetensorsEntry> FindInSafetensorsHeader(absl::string_view header,
                                                         absl::string_view file,
                                                         absl::string_view key, int64_t data_bytes);

// Where in the file the bytes of tensor `key` lie, dense and little-endian; it must have this dtype
// and shape. NOT_FOUND: no such file or tensor; FAILED_PRECONDITION: a pointer of Git LFS in place
// of the file; else INVALID_ARGUMENT. Messages name the file.
absl::StatusOr<FileRange> FindSafetensor(const std::string& path, absl::string_view key,
                                         v1::DType dtype, const std::vector<int64_t>& shape);

// These bytes. RESOURCE_EXHAUSTED: more than `max_bytes`; else as FindSafetensor.
absl::StatusOr<std::string> ReadSafetensor(const std::string& path, absl::string_view key,
                                           v1::DType dtype, const std::vector<int64_t>& shape,
                                           int64_t max_bytes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SAFETENSORS_H_
