#ifndef KSEARCH_COORDINATOR_PROPOSER_DEVICE_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_DEVICE_TEXT_H_

#include <string>

#include "proto/result.pb.h"

namespace ksearch {

// Describes the verifier's measurements of this device in one or two sentences; empty if nothing is
// known.
std::string PeaksText(const v1::DevicePeaks& peaks);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_DEVICE_TEXT_H_
