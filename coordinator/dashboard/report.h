#ifndef KSEARCH_COORDINATOR_DASHBOARD_REPORT_H_
#define KSEARCH_COORDINATOR_DASHBOARD_REPORT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch::dashboard {

// One run as one HTML file that needs nothing beside it: the page's own code and style, with the
// answers that it would get about this run as JSON. Nothing of the run becomes HTML or code: the
// file allows no script but its own, by digest. `call` carries out an RPC as JSON (JsonCalls).
// RESOURCE_EXHAUSTED: it would be larger than `most_bytes`. Errors of the RPCs.
absl::StatusOr<std::string> MakeReport(const std::function<absl::StatusOr<std::string>(
                                           absl::string_view method, absl::string_view json)>& call,
                                       const std::string& run_id, int64_t most_bytes,
                                       absl::Time now);

// `entry` and all modules of the page that it needs as one script; those that speak with a server
// are replaced. Modules import and export by name, each at the beginning of a line.
std::string BundleModules(absl::string_view entry);

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_REPORT_H_
