#ifndef KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_CACHES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_CACHES_H_

#include <cstdint>
#include <string>

namespace ksearch {

// Bytes of all last-level caches of the machine together: the kernel's list under
// `root`/sys/devices/system/cpu, each cache counted once however many processors share it, or
// `library_bytes` (sysconf's answer) if that is more. In a virtual machine the two may differ by
// much, and neither is always right (glibc 2.36 has 256 MiB where the kernel has 32): a bound that
// needs "in no cache" needs the larger one. 0: neither is known.
int64_t AllLastLevelCacheBytes(const std::string& root, int64_t library_bytes);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_CACHES_H_
