#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_KERNEL_NAME_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_KERNEL_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

inline constexpr size_t kMaxKernelNameBytes = 200;

// Returns the readable name of a kernel's symbol: "attention::decode<128, true, __nv_bfloat16>" for
// _ZN9attention6decodeILi128ELb1E13__nv_bfloat16EEvPT_. Parameters are omitted, and template
// arguments that it cannot read become "...". A symbol of another form is returned unchanged, with
// '?' for characters that no symbol has. Takes time and space proportional to the symbol, which the
// author of a candidate chose: the demanglers of C++ libraries do not.
std::string KernelName(absl::string_view symbol);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_KERNEL_NAME_H_
