#ifndef KSEARCH_COORDINATOR_DASHBOARD_METRICS_PROMETHEUS_TEXT_H_
#define KSEARCH_COORDINATOR_DASHBOARD_METRICS_PROMETHEUS_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch::dashboard {

// Writes the Prometheus text format, version 0.0.4. Label values are escaped; names must be valid.
class PrometheusText {
 public:
  using Labels = std::vector<std::pair<absl::string_view, std::string>>;

  // Begins a metric family; its samples follow. `type`: "counter", "gauge", "histogram".
  void Family(absl::string_view name, absl::string_view type, absl::string_view help);
  void Sample(const Labels& labels, double value) { Write("", labels, value); }
  // Writes a histogram without labels. `counts` are per bucket, not cumulative; the last one counts
  // values beyond `bounds`.
  void Histogram(const std::vector<double>& bounds, const std::vector<int64_t>& counts, double sum);

  const std::string& text() const { return text_; }

 private:
  void Write(absl::string_view suffix, const Labels& labels, double value);

  std::string family_;
  std::string text_;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_METRICS_PROMETHEUS_TEXT_H_
