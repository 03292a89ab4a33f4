#ifndef KSEARCH_COMMON_MEAN_TIMES_H_
#define KSEARCH_COMMON_MEAN_TIMES_H_

#include "proto/result.pb.h"

namespace ksearch {

// Scores of outside suites rest on means, where ksearch's own are medians.

// The mean of all calls; 0: there is none.
double MeanUs(const v1::Samples& samples);

// Without the workloads that its comparisons hold out: suites score their own cases. A screening
// has none of them.
v1::JobResult OfficialCases(v1::JobResult result);

// The mean of the candidate or the baseline over all workloads of a result; 0: some were not timed.
double GeometricMeanOfMeans(const v1::JobResult& result, bool baseline);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_MEAN_TIMES_H_
