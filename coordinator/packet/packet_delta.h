#ifndef KSEARCH_COORDINATOR_PACKET_PACKET_DELTA_H_
#define KSEARCH_COORDINATOR_PACKET_PACKET_DELTA_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch::packet {

// Lists the differences of more than a tenth from the parent, at most one line per kernel and three
// in all: numbers of the profiles if both were profiled, otherwise the compiler's. Kernels are
// matched by name; if no name matches, the kernels that take the most time are compared. Empty if
// there is no such difference, or nothing can be compared.
std::vector<std::string> DeltaLines(const v1::JobResult& result, const v1::JobResult& parent);

}  // namespace ksearch::packet

#endif  // KSEARCH_COORDINATOR_PACKET_PACKET_DELTA_H_
