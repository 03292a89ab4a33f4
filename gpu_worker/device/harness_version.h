#ifndef KSEARCH_GPU_WORKER_DEVICE_HARNESS_VERSION_H_
#define KSEARCH_GPU_WORKER_DEVICE_HARNESS_VERSION_H_

namespace ksearch {

// Increased when the meaning of timing or checking changes, or a compiler gets other flags:
// measurements of different versions are not comparable, and results of one version answer no job
// of another.
inline constexpr char kHarnessVersion[] = "17";

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_HARNESS_VERSION_H_
