#ifndef KSEARCH_CLI_COMPARE_EXPERIMENT_REPORT_H_
#define KSEARCH_CLI_COMPARE_EXPERIMENT_REPORT_H_

#include <vector>

#include "proto/experiment.pb.h"

namespace ksearch {

// What a complete experiment's runs, as far as there are any, say of its arms, whose strategies are
// filled in. Pure: the same runs
// give the same report to the last digit.
v1::ExperimentReport MakeReport(const v1::Experiment& experiment,
                                std::vector<v1::TrialSummary> trials);

// The best screened speed-up once the amount was spent, by the run's curve; 1: nothing better yet.
double BestAt(const v1::TrialSummary& trial, double amount, double (*axis)(const v1::CurvePoint&));

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_EXPERIMENT_REPORT_H_
