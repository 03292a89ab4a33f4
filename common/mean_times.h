#ifndef KSEARCH_COMMON_MEAN_TIMES_H_
#define KSEARCH_COMMON_MEAN_TIMES_H_

#include "proto/result.pb.h"

namespace ksearch {

// Scores of third-party suites use means, while ksearch's own use medians.

// The mean of all calls; 0 if there are none.
double MeanUs(const v1::Samples& samples);

// Returns the result without the workloads that its comparisons hold out, because suites score only
// their own cases. A screening has no held-out workloads.
v1::JobResult OfficialCases(v1::JobResult result);

// The geometric mean over all workloads of a result of the candidate's or the baseline's mean; 0 if
// some workloads were not timed.
double GeometricMeanOfMeans(const v1::JobResult& result, bool baseline);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_MEAN_TIMES_H_
