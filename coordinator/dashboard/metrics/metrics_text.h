#ifndef KSEARCH_COORDINATOR_DASHBOARD_METRICS_METRICS_TEXT_H_
#define KSEARCH_COORDINATOR_DASHBOARD_METRICS_METRICS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "coordinator/dashboard/metrics/feed_counts.h"
#include "proto/search_service.pb.h"

namespace ksearch::dashboard {

// The state of a coordinator that one scrape reports.
struct MetricsInput {
  v1::ListRunsReply runs;
  v1::ListWorkersReply workers;
  v1::ListJobsReply jobs;
  v1::DemandReply demand;
  v1::ServerFacts facts;
  FeedCounts::Totals counts;
  int open_pages = 0;
};

// Returns the text of /metrics; docs/dashboard.md lists the names. Includes metrics of this process
// and of the disk that holds the state folder.
std::string MetricsText(const MetricsInput& input);

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_METRICS_METRICS_TEXT_H_
