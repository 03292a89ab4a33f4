#ifndef KSEARCH_COMMON_KERNEL_HEADER_H_
#define KSEARCH_COMMON_KERNEL_HEADER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

inline constexpr absl::string_view kKernelHeaderName = "ksearch_task.h";
// Our own CUDA header, beside the other one for sources that want it.
inline constexpr absl::string_view kCudaHeaderName = "ksearch_cuda.h";
inline constexpr absl::string_view kEntrySymbol = "ksearch_run";
inline constexpr absl::string_view kWorkspaceSymbol = "ksearch_workspace_bytes";

// The header every candidate of the task includes: struct KsearchArgs and the entry's declaration.
//   CPU:  extern "C" int ksearch_run(const KsearchArgs* args);
//   CUDA: extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream);
// KsearchArgs is a sequence of 8-byte slots, in this order: every axis of the definition as int64_t
// (constants too), every tensor input and output as a typed pointer and every scalar as int64_t or
// double (definition order: inputs, then outputs), then void* workspace, int64_t workspace_bytes.
// fp16, bf16 are uint16_t and fp8 uint8_t in a CPU header; in a CUDA one they are __half,
// __nv_bfloat16, __nv_fp8_e4m3 and __nv_fp8_e5m2, and pointers are device memory. The text depends
// on the definition only. INVALID_ARGUMENT if a name is no C identifier, or names clash.
absl::StatusOr<std::string> KernelHeader(const v1::Definition& definition, v1::DeviceClass device);

// The slots of one workload in that order, each with what it is, but without the workspace's two.
// Buffer slots are buffer = true. INVALID_ARGUMENT if the workload lacks an axis or scalar's value.
absl::StatusOr<std::vector<v1::ArgumentSlot>> KernelArguments(const v1::Definition& definition,
                                                              const v1::Workload& workload);

// A tensor's extent under a workload, and its size.
absl::StatusOr<std::vector<int64_t>> TensorShape(const v1::Definition& definition,
                                                 const v1::Workload& workload,
                                                 const v1::TensorSpec& tensor);
// Bytes of one element; FLOAT4_E2M1 packs two values a byte and is refused (INVALID_ARGUMENT).
absl::StatusOr<int64_t> ElementBytes(v1::DType dtype);
// "float32", "bfloat16", ... as FlashInfer-trace spells them; DTypeFromName is the inverse.
absl::string_view DTypeName(v1::DType dtype);
absl::StatusOr<v1::DType> DTypeFromName(absl::string_view name);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_KERNEL_HEADER_H_
