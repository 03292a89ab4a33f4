#ifndef KSEARCH_GPU_WORKER_DEVICE_XID_XID_TABLE_H_
#define KSEARCH_GPU_WORKER_DEVICE_XID_XID_TABLE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace ksearch {

// What an error number of NVIDIA's driver (Xid) says of the job that was on the GPU.
enum class XidClass {
  kProgram,    // a faulty program leaves it behind: what became of the program stands
  kCleanUp,    // the driver tidies up after a program that was ended
  kContained,  // memory of one program failed and is out of use: the job is tried elsewhere, the
               // GPU goes on
  kDevice,  // the GPU itself, its memory, links or firmware: nothing that ran then counts, and the
            // GPU takes no more jobs
  kUnlisted,  // not in the table: recorded, nothing else
};

struct Xid {
  uint64_t number;
  XidClass xid_class;
  const char* what;  // a few words for people
};

// Every listed number once, in ascending order.
absl::Span<const Xid> XidTable();
// The entry of the table, or one of class kUnlisted.
Xid DescribeXid(uint64_t number);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_XID_XID_TABLE_H_
