#ifndef KSEARCH_CLI_COMPARE_EXPERIMENT_REPORT_H_
#define KSEARCH_CLI_COMPARE_EXPERIMENT_REPORT_H_

#include <vector>

#include "proto/experiment.pb.h"

namespace ksearch {

// Computes the report on a complete experiment from the runs that exist so far. The arms'
// strategies must be filled in. Pure: the same runs give exactly the same report.
v1::ExperimentReport MakeReport(const v1::Experiment& experiment,
                                std::vector<v1::TrialSummary> trials);

// Returns the best screened speed-up once the amount was spent, from the run's curve; 1 if nothing
// was better yet.
double BestAt(const v1::TrialSummary& trial, double amount, double (*axis)(const v1::CurvePoint&));

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_EXPERIMENT_REPORT_H_
