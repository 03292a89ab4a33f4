#include "coordinator/dashboard/metrics/prometheus_text.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace ksearch::dashboard {
namespace {

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // Enough digits for counts and for nano-dollars.
  return absl::StrFormat("%.15g", value);
}

}  // namespace

void PrometheusText::Family(absl::string_view name, absl::string_view type,
                            absl::string_view help) {
  family_ = std::string(name);
  absl::StrAppend(&text_, "# HELP ", name, " ",
                  absl::StrReplaceAll(help, {{"\\", "\\\\"}, {"\n", "\\n"}}), "\n# TYPE ", name,
                  " ", type, "\n");
}

void PrometheusText::Histogram(const std::vector<double>& bounds,
                               const std::vector<int64_t>& counts, double sum) {
  int64_t total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    Write("_bucket", {{"le", i < bounds.size() ? Number(bounds[i]) : "+Inf"}},
          static_cast<double>(total));
  }
  Write("_sum", {}, sum);
  Write("_count", {}, static_cast<double>(total));
}

void PrometheusText::Write(absl::string_view suffix, const Labels& labels, double value) {
  absl::StrAppend(&text_, family_, suffix);
  for (size_t i = 0; i < labels.size(); ++i) {
    absl::StrAppend(
        &text_, i == 0 ? "{" : ",", labels[i].first, "=\"",
        absl::StrReplaceAll(labels[i].second, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
        "\"");
  }
  absl::StrAppend(&text_, labels.empty() ? "" : "}", " ", Number(value), "\n");
}

}  // namespace ksearch::dashboard
