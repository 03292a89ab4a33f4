// Never finishes loading.
#include <unistd.h>

#include "rmsnorm.cuh"

namespace {
struct Hang {
  Hang() {
    while (true) pause();
  }
} hang;
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::Launch(args, stream);
}
