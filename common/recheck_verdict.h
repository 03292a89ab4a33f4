#ifndef KSEARCH_COMMON_RECHECK_VERDICT_H_
#define KSEARCH_COMMON_RECHECK_VERDICT_H_

#include "proto/result.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Decides whether a claim, a result with a comparison with the baseline, holds now that the
// confirmation has been repeated. Fills in verdict, text, claimed, claimed_on and repeated. The
// speed-up of a candidate may differ between platforms (a device model, a harness version, a
// toolkit): ratios are compared only on the same platform.
v1::RecheckResult JudgeRecheck(const v1::JobResult& claim, const v1::JobResult& repeated);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_RECHECK_VERDICT_H_
