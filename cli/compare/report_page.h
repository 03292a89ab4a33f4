#ifndef KSEARCH_CLI_COMPARE_REPORT_PAGE_H_
#define KSEARCH_CLI_COMPARE_REPORT_PAGE_H_

#include <string>

#include "proto/experiment.pb.h"

namespace ksearch {

// Returns the report as a self-contained HTML file without external scripts, fonts or pictures. It
// shows curves of the best screened speed-up (median of an arm's runs, and the middle half of them)
// against evaluations, tokens, money, device time and hours; the tables; and every run.
std::string ReportPage(const v1::ExperimentReport& report);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_REPORT_PAGE_H_
