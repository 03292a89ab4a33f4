// ksearch's own kernels around every timed call.

// Launched with one thread a block, as many blocks as there are multiprocessors, and enough shared
// memory that a multiprocessor has no room for anything beside one block. Every block waits until
// all have started: at that moment nothing else runs on the device, and the time is noted. With
// `release`, the device is then held until the host sets *release, or limit_ns have passed, which
// sets *expired: a program that waits for the device would otherwise wait forever. `factor` and
// `offset` seal the stamp (stamp_seal.h).
extern "C" __global__ void ksearch_separator(unsigned long long* arrivals,
                                             unsigned long long* stamp, unsigned long long factor,
                                             unsigned long long offset,
                                             const volatile unsigned int* release,
                                             unsigned long long limit_ns,
                                             volatile unsigned int* expired) {
  unsigned long long now;
  if (release != nullptr && blockIdx.x == 0) {
    unsigned long long start;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    while (*release == 0) {
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
      if (now - start > limit_ns) {
        *expired = 1;
        __threadfence_system();
        break;
      }
      __nanosleep(500);
    }
  }
  // Separators never overlap, so the count of all arrivals identifies the separator; it is never
  // reset.
  const unsigned long long ticket = atomicAdd(arrivals, 1ull);
  const unsigned long long all = (ticket / gridDim.x + 1) * gridDim.x;
  do {
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(arrivals) : "memory");
  } while (now < all);
  if (blockIdx.x == 0) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    *stamp = now * factor + offset;
  }
}

extern "C" __global__ void ksearch_nothing() {}
