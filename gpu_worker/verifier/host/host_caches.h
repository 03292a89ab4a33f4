#ifndef KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_CACHES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_CACHES_H_

#include <cstdint>
#include <string>

namespace ksearch {

// The total size of all last-level caches of the machine, in bytes: the sum over the kernel's list
// under `root`/sys/devices/system/cpu, counting each shared cache once, or `library_bytes` (from
// sysconf) if that is larger. In a virtual machine the two may differ a lot, and neither is always
// right (glibc 2.36 reported 256 MiB where the kernel reported 32). To be sure that data is in no
// cache, the larger one is needed. 0: neither is known.
int64_t AllLastLevelCacheBytes(const std::string& root, int64_t library_bytes);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_CACHES_H_
