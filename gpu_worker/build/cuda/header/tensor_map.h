/* On the host: what tensor copies are told. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_TENSOR_MAP_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_TENSOR_MAP_H_

namespace ks {

/* ---------------------------------------------------------------- host: tensor maps */

/* A row-major [rows][columns] tensor, rows `row_bytes` apart (a multiple of 16), base 16-byte
   aligned; box [box_rows][box_columns], each at most 256. `type` e.g.
   CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 (fp8: ..._UINT8). With a swizzle of n bytes a box row has at
   most n bytes. Cheap (microseconds of the host, no device work): call it in the entry, every time.
 */
inline cudaError_t make_tensor_map_2d(CUtensorMap* map, CUtensorMapDataType type, const void* base,
                                      uint64_t rows, uint64_t columns, uint64_t row_bytes,
                                      uint32_t box_rows, uint32_t box_columns,
                                      CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) {
  typedef CUresult (*Encode)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                             const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                             const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static Encode encode = nullptr;
  if (encode == nullptr) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult query;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                               12000, cudaEnableDefault, &query);
    if (error != cudaSuccess) return error;
    if (query != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
    encode = (Encode)found;
  }
  const cuuint64_t sizes[2] = {columns, rows};
  const cuuint64_t strides[1] = {row_bytes};
  const cuuint32_t box[2] = {box_columns, box_rows};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result =
      encode(map, type, 2, const_cast<void*>(base), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_TENSOR_MAP_H_
