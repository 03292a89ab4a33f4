#ifndef KSEARCH_CLI_COMPARE_REPORT_TEXT_H_
#define KSEARCH_CLI_COMPARE_REPORT_TEXT_H_

#include <string>

#include "proto/experiment.pb.h"

namespace ksearch {

// Formats the report for a terminal: arms, comparisons, claims, cautions, and the best speed-up at
// quarters of the evaluations.
std::string ReportText(const v1::ExperimentReport& report);

// The rows of `table`, shared with the page. The first row has the headings.
std::vector<std::vector<std::string>> ArmRows(const v1::ExperimentReport& report);
std::vector<std::vector<std::string>> ComparisonRows(const v1::ExperimentReport& report);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_REPORT_TEXT_H_
