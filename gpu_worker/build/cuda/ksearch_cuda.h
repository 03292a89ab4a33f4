/* ksearch_cuda.h: thin wrappers for what CUDA C++ leaves to PTX. Lies beside ksearch_task.h;
   include it if you want it. Everything is in namespace ks and inline; nothing here launches,
   allocates or synchronizes. Names follow the PTX ISA, whose sections are given as "PTX: ...".

   What needs which architecture (what an architecture lacks is not declared in its device pass):
     any       conversions, 128-bit access, reductions, KSEARCH_LAUNCH_CHECK
     sm_80     cp.async, ldmatrix, mma.sync (fp8: sm_89), mbarrier without transactions
     sm_90     mbarrier transactions, bulk and tensor (TMA) copies, proxies, dependent launches
     sm_90a    wgmma, setmaxnreg (also sm_100a)

   In the source tree its parts lie in header/; a build puts their text in place of the lines that
   include them, so that what lies beside a candidate is one file. */
#ifndef KSEARCH_CUDA_H_
#define KSEARCH_CUDA_H_

#include <cuda.h> /* types only: no driver function is called by name */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <stdint.h>

/* In the entry, after each launch: returns the launch's error from the function. */
#define KSEARCH_LAUNCH_CHECK()                                     \
  do {                                                             \
    const cudaError_t ksearch_error_ = cudaGetLastError();         \
    if (ksearch_error_ != cudaSuccess) return (int)ksearch_error_; \
  } while (0)
/* The same for a call of the runtime. */
#define KSEARCH_CHECK(call)                                        \
  do {                                                             \
    const cudaError_t ksearch_error_ = (call);                     \
    if (ksearch_error_ != cudaSuccess) return (int)ksearch_error_; \
  } while (0)

#define KS_DEVICE __device__ __forceinline__
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define KS_HAS_SM80 1
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
#define KS_HAS_SM89 1
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define KS_HAS_SM90 1
#endif
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KS_HAS_WGMMA 1
#endif
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)
#define KS_HAS_SETMAXNREG 1
#endif

/* Later parts use earlier ones. */
/* clang-format off */
#include "header/conversions.h"
#include "header/block.h"
#include "header/async_copy.h"
#include "header/warp_matrix.h"
#include "header/launch.h"
#include "header/wgmma.h"
#include "header/wgmma_bf16.h"
#include "header/wgmma_fp8.h"
#include "header/tensor_map.h"
/* clang-format on */

#endif  // KSEARCH_CUDA_H_
