#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_SASS_FACTS_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_SASS_FACTS_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"

namespace ksearch {

// Counts the instructions of every function in the output of `cuobjdump -sass`, by symbol; at most
// 256 functions. A truncated listing gives what was read. Accepts any bytes.
std::map<std::string, v1::SassFacts> CountSass(absl::string_view listing);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_SASS_FACTS_H_
