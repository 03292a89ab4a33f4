// Made longer than any source may be before it is sent (see the table).
#include "rmsnorm.cuh"
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::Launch(args, stream);
}
