#ifndef KSEARCH_COORDINATOR_PACKET_KERNEL_LINES_H_
#define KSEARCH_COORDINATOR_PACKET_KERNEL_LINES_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch::packet {

// What the compiler says of the kernel of this name; null: nothing.
const v1::KernelFacts* FactsOf(const v1::BuildReport& build, const std::string& name);

bool Spills(const v1::KernelFacts& kernel);

// One kernel as the profiler saw it, at most six lines; `facts` may be null.
std::vector<std::string> ProfiledKernelLines(const v1::KernelProfile& kernel,
                                             const v1::KernelFacts* facts);

// One kernel of which only the compiler knows, at most two lines.
std::vector<std::string> BuiltKernelLines(const v1::KernelFacts& kernel);

}  // namespace ksearch::packet

#endif  // KSEARCH_COORDINATOR_PACKET_KERNEL_LINES_H_
