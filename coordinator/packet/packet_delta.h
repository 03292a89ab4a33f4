#ifndef KSEARCH_COORDINATOR_PACKET_PACKET_DELTA_H_
#define KSEARCH_COORDINATOR_PACKET_PACKET_DELTA_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch::packet {

// What is more than a tenth off the parent's, at most one line a kernel and three in all: numbers
// of the profiles if both were profiled, else the compiler's. Kernels are compared by name; the one
// that takes most time with the parent's if no name is the same. Empty: nothing moved, or nothing
// can be compared.
std::vector<std::string> DeltaLines(const v1::JobResult& result, const v1::JobResult& parent);

}  // namespace ksearch::packet

#endif  // KSEARCH_COORDINATOR_PACKET_PACKET_DELTA_H_
