#ifndef KSEARCH_CLI_COMPARE_REPORT_PAGE_H_
#define KSEARCH_CLI_COMPARE_REPORT_PAGE_H_

#include <string>

#include "proto/experiment.pb.h"

namespace ksearch {

// The report as one HTML file that needs nothing else: no script, no font, no picture from
// elsewhere. Curves of the best screened so far (median of an arm's runs, and the middle half of
// them) against evaluations, tokens, money, device time and hours; the tables; every run.
std::string ReportPage(const v1::ExperimentReport& report);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_REPORT_PAGE_H_
