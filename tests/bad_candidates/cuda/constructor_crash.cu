// Crashes while it is loaded.
#include <stdlib.h>

#include "rmsnorm.cuh"

namespace {
struct Crash {
  Crash() { abort(); }
} crash;
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::Launch(args, stream);
}
