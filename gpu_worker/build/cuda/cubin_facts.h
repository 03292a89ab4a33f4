#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_CUBIN_FACTS_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_CUBIN_FACTS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"

namespace ksearch {

inline constexpr size_t kMaxCubinKernels = 32;

// Returns name, registers, static shared memory and stack of each kernel in a cubin, CUDA's form of
// ELF, in the order of its sections; at most kMaxCubinKernels. Accepts any bytes: what is not a
// cubin has no kernels. Sections ".text.NAME" and ".nv.shared.NAME", and the attributes REGCOUNT
// and FRAME_SIZE of ".nv.info", are those that `cuobjdump -res-usage` and `readelf` show.
std::vector<v1::KernelFacts> ReadCubin(absl::string_view cubin);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_CUBIN_FACTS_H_
