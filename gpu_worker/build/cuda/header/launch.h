/* Dependent launches, and who has how many registers. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_LAUNCH_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_LAUNCH_H_

namespace ks {

#ifdef KS_HAS_SM90
/* ---------------------------------------------------------------- dependent launches
   PTX: griddepcontrol; for kernels launched with the attribute
   cudaLaunchAttributeProgrammaticStreamSerialization. */
KS_DEVICE void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
KS_DEVICE void wait_for_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#endif /* KS_HAS_SM90 */

#ifdef KS_HAS_SETMAXNREG
/* PTX: setmaxnreg. By all warps of a warpgroup; n is a multiple of 8 in 24..256. */
template <int n>
KS_DEVICE void registers_release() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}
template <int n>
KS_DEVICE void registers_claim() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}
#endif

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_LAUNCH_H_
