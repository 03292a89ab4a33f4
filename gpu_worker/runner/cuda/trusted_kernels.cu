// Kernels of the runner itself, launched on the candidate's stream.

// Holds everything queued behind it until *release is set by the host, or limit_ns have passed;
// the latter is told in *expired: a candidate that waits for the device would wait for ever.
extern "C" __global__ void ksearch_gate(const volatile unsigned int* release,
                                        unsigned long long limit_ns,
                                        volatile unsigned int* expired) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  while (*release == 0) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now - start > limit_ns) {
      *expired = 1;
      __threadfence_system();
      return;
    }
    __nanosleep(500);
  }
}

extern "C" __global__ void ksearch_nothing() {}
