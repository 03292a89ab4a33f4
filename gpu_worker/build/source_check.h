#ifndef KSEARCH_GPU_WORKER_BUILD_SOURCE_CHECK_H_
#define KSEARCH_GPU_WORKER_BUILD_SOURCE_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/job.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

inline constexpr int kMaxSourceFiles = 64;

// The file extensions of a language (with the dot).
struct SourceRules {
  std::vector<absl::string_view> compiled;  // at least one of these
  std::vector<absl::string_view> included;
};
const SourceRules& CppSourceRules();
const SourceRules& CudaSourceRules();
const SourceRules& PythonSourceRules();

// Returns OK, or INVALID_ARGUMENT with the first reason why these sources are not compiled: no file
// or too many, too large, an unsafe, reserved or repeated path, an unknown extension, a NUL byte,
// nothing to compile. The message is written for the author of the sources.
absl::Status CheckSources(const v1::Sources& sources, const v1::Limits& limits,
                          const SourceRules& rules);

// Returns the paths of the files to compile, sorted.
std::vector<std::string> CompiledPaths(const v1::Sources& sources, const SourceRules& rules);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_SOURCE_CHECK_H_
