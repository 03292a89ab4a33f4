#ifndef KSEARCH_GPU_WORKER_DEVICE_HARNESS_VERSION_H_
#define KSEARCH_GPU_WORKER_DEVICE_HARNESS_VERSION_H_

namespace ksearch {

// Rises when timing or checking changes meaning, or a compiler gets other flags: numbers of
// different versions do not compare, and results of one answer no job of another.
inline constexpr char kHarnessVersion[] = "11";

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_HARNESS_VERSION_H_
