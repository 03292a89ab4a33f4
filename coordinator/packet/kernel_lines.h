#ifndef KSEARCH_COORDINATOR_PACKET_KERNEL_LINES_H_
#define KSEARCH_COORDINATOR_PACKET_KERNEL_LINES_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch::packet {

// Returns the compiler's facts about the kernel of this name, or null if there are none.
const v1::KernelFacts* FactsOf(const v1::BuildReport& build, const std::string& name);

bool Spills(const v1::KernelFacts& kernel);

// Formats one profiled kernel in at most six lines. `facts` may be null.
std::vector<std::string> ProfiledKernelLines(const v1::KernelProfile& kernel,
                                             const v1::KernelFacts* facts);

// Formats one kernel that was only compiled, in at most two lines.
std::vector<std::string> BuiltKernelLines(const v1::KernelFacts& kernel);

}  // namespace ksearch::packet

#endif  // KSEARCH_COORDINATOR_PACKET_KERNEL_LINES_H_
