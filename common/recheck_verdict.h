#ifndef KSEARCH_COMMON_RECHECK_VERDICT_H_
#define KSEARCH_COMMON_RECHECK_VERDICT_H_

#include "proto/result.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Whether a claim, a result that has a comparison with the baseline, holds now that the
// confirmation was repeated: verdict, text, claimed, claimed_on and repeated. How much faster a
// candidate is may differ from one platform to another (a model of device, a harness version, a
// toolkit): ratios are compared on the same one only.
v1::RecheckResult JudgeRecheck(const v1::JobResult& claim, const v1::JobResult& repeated);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_RECHECK_VERDICT_H_
