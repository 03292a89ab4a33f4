#ifndef KSEARCH_CLI_GPU_TEXT_H_
#define KSEARCH_CLI_GPU_TEXT_H_

#include <cstdint>
#include <string>

#include "proto/search_service.pb.h"

namespace ksearch {

// Returns why a GPU lowers its clocks, from NVML's clocks event reasons: "power cap, heat"; "" if
// it does not.
std::string ThrottleText(uint64_t reasons);

// Returns a table with the newest reading of each GPU of connected workers, "-" for unknown values;
// one sentence if there is none.
std::string GpusText(const google::protobuf::RepeatedPtrField<v1::WorkerStatus>& workers);

}  // namespace ksearch

#endif  // KSEARCH_CLI_GPU_TEXT_H_
