#ifndef KSEARCH_COORDINATOR_DASHBOARD_METRICS_METRICS_TEXT_H_
#define KSEARCH_COORDINATOR_DASHBOARD_METRICS_METRICS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "coordinator/dashboard/metrics/feed_counts.h"
#include "proto/search_service.pb.h"

namespace ksearch::dashboard {

// What a scrape sees of a coordinator.
struct MetricsInput {
  v1::ListRunsReply runs;
  v1::ListWorkersReply workers;
  v1::ListJobsReply jobs;
  v1::DemandReply demand;
  v1::ServerFacts facts;
  FeedCounts::Totals counts;
  int open_pages = 0;
};

// The text of /metrics: docs/dashboard.md lists its names. Also covers this process and the
// disk that the state folder is on.
std::string MetricsText(const MetricsInput& input);

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_METRICS_METRICS_TEXT_H_
