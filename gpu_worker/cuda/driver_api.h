#ifndef KSEARCH_GPU_WORKER_CUDA_DRIVER_API_H_
#define KSEARCH_GPU_WORKER_CUDA_DRIVER_API_H_

#include <cuda.h>
#include <cudaProfiler.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Every driver function that this project calls. cuda.h renames some functions to versioned ones
// (cuMemFree is cuMemFree_v2); they are resolved under the name that the header gives them.
#define KSEARCH_CUDA_DRIVER_FUNCTIONS(F)         \
  F(cuInit)                                      \
  F(cuDriverGetVersion)                          \
  F(cuGetErrorName)                              \
  F(cuGetErrorString)                            \
  F(cuDeviceGetCount)                            \
  F(cuDeviceGet)                                 \
  F(cuDeviceGetUuid)                             \
  F(cuDeviceGetName)                             \
  F(cuDeviceGetAttribute)                        \
  F(cuDeviceTotalMem)                            \
  F(cuDeviceGetDefaultMemPool)                   \
  F(cuMemPoolSetAttribute)                       \
  F(cuDevicePrimaryCtxRetain)                    \
  F(cuDevicePrimaryCtxRelease)                   \
  F(cuCtxSetCurrent)                             \
  F(cuCtxGetCurrent)                             \
  F(cuCtxSynchronize)                            \
  F(cuCtxSetLimit)                               \
  F(cuCtxGetLimit)                               \
  F(cuCtxResetPersistingL2Cache)                 \
  F(cuModuleLoadData)                            \
  F(cuModuleUnload)                              \
  F(cuModuleGetFunction)                         \
  F(cuFuncGetAttribute)                          \
  F(cuFuncSetAttribute)                          \
  F(cuLaunchKernel)                              \
  F(cuLaunchCooperativeKernel)                   \
  F(cuLaunchHostFunc)                            \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  F(cuStreamCreate)                              \
  F(cuStreamDestroy)                             \
  F(cuStreamSynchronize)                         \
  F(cuStreamQuery)                               \
  F(cuStreamWaitEvent)                           \
  F(cuStreamWaitValue32)                         \
  F(cuStreamWriteValue32)                        \
  F(cuStreamBeginCapture)                        \
  F(cuStreamEndCapture)                          \
  F(cuStreamIsCapturing)                         \
  F(cuEventCreate)                               \
  F(cuEventDestroy)                              \
  F(cuEventRecord)                               \
  F(cuEventSynchronize)                          \
  F(cuEventQuery)                                \
  F(cuEventElapsedTime)                          \
  F(cuGraphCreate)                               \
  F(cuGraphDestroy)                              \
  F(cuGraphClone)                                \
  F(cuGraphGetNodes)                             \
  F(cuGraphNodeGetType)                          \
  F(cuGraphAddChildGraphNode)                    \
  F(cuGraphChildGraphNodeGetGraph)               \
  F(cuGraphAddKernelNode)                        \
  F(cuGraphKernelNodeSetAttribute)               \
  F(cuGraphInstantiate)                          \
  F(cuGraphUpload)                               \
  F(cuGraphLaunch)                               \
  F(cuGraphExecDestroy)                          \
  F(cuMemGetInfo)                                \
  F(cuMemAlloc)                                  \
  F(cuMemFree)                                   \
  F(cuMemHostAlloc)                              \
  F(cuMemFreeHost)                               \
  F(cuMemHostGetDevicePointer)                   \
  F(cuMemcpyHtoD)                                \
  F(cuMemcpyDtoH)                                \
  F(cuMemcpyDtoD)                                \
  F(cuMemcpyHtoDAsync)                           \
  F(cuMemcpyDtoHAsync)                           \
  F(cuMemcpyDtoDAsync)                           \
  F(cuMemsetD8)                                  \
  F(cuMemsetD8Async)                             \
  F(cuMemsetD32)                                 \
  F(cuMemsetD32Async)                            \
  F(cuMemGetAllocationGranularity)               \
  F(cuMemGetAllocationPropertiesFromHandle)      \
  F(cuMemCreate)                                 \
  F(cuMemRelease)                                \
  F(cuMemExportToShareableHandle)                \
  F(cuMemImportFromShareableHandle)              \
  F(cuMemAddressReserve)                         \
  F(cuMemAddressFree)                            \
  F(cuMemMap)                                    \
  F(cuMemUnmap)                                  \
  F(cuMemSetAccess)                              \
  F(cuProfilerStart)                             \
  F(cuProfilerStop)

// The CUDA driver as a table of functions, found by dlopen: no binary links libcuda, so that all of
// them start on machines without it. Fields have the names of cuda.h: `api.cuMemFree(p)`. Once
// loaded the table is immutable, so thread-safe, and sealed, because the process of a runner also
// contains a program that could gain from changing it. The library is never unloaded, because it
// has threads of its own.
struct DriverApi {
#define KSEARCH_CUDA_FIELD(name) decltype(&::name) name = nullptr;
  KSEARCH_CUDA_DRIVER_FUNCTIONS(KSEARCH_CUDA_FIELD)
#undef KSEARCH_CUDA_FIELD

  // Opens `library`, resolves every function and calls cuInit. NOT_FOUND: no driver on this machine
  // (with the loader's message). FAILED_PRECONDITION: the driver is too old for this build, or
  // cannot start (no device, device nodes missing).
  static absl::StatusOr<std::shared_ptr<const DriverApi>> Load(
      absl::string_view library = "libcuda.so.1");
};

// The driver version that this build needs, in the form of cuDriverGetVersion (13000 = 13.0).
inline constexpr int kNeededDriverVersion = CUDA_VERSION / 1000 * 1000;

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_DRIVER_API_H_
