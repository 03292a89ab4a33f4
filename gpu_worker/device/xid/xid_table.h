#ifndef KSEARCH_GPU_WORKER_DEVICE_XID_XID_TABLE_H_
#define KSEARCH_GPU_WORKER_DEVICE_XID_XID_TABLE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace ksearch {

// The meaning of an error number of NVIDIA's driver (Xid) for the job that was on the GPU.
enum class XidClass {
  kProgram,  // left behind by a faulty program, whose result stays valid
  kCleanUp,  // the driver cleans up after a program that was ended
  // memory of one program failed and was retired: the job is tried elsewhere, the GPU continues
  kContained,
  // a fault of the GPU itself, its memory, links or firmware: results of programs that ran then do
  // not count, and the GPU gets no more jobs
  kDevice,
  kUnlisted,  // not in the table: only recorded
};

struct Xid {
  uint64_t number;
  XidClass xid_class;
  const char* what;  // a short description
};

// Every listed number once, ascending.
absl::Span<const Xid> XidTable();
// Returns the entry of the table, or one of class kUnlisted.
Xid DescribeXid(uint64_t number);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_XID_XID_TABLE_H_
