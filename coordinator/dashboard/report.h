#ifndef KSEARCH_COORDINATOR_DASHBOARD_REPORT_H_
#define KSEARCH_COORDINATOR_DASHBOARD_REPORT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch::dashboard {

// Returns one run as a single HTML file that needs nothing beside it: the page's own code and
// style, with the RPC replies about this run as JSON. Nothing of the run becomes HTML or code: the
// file's content security policy allows only its own script, by digest. `call` carries out an RPC
// as JSON (JsonCalls). RESOURCE_EXHAUSTED: the file would exceed `most_bytes`. Errors of the RPCs
// are passed on.
absl::StatusOr<std::string> MakeReport(const std::function<absl::StatusOr<std::string>(
                                           absl::string_view method, absl::string_view json)>& call,
                                       const std::string& run_id, int64_t most_bytes,
                                       absl::Time now);

// Returns `entry` and all page modules that it imports as one script, with the modules that talk to
// a server replaced. Modules must import and export by name, each statement at the beginning of a
// line.
std::string BundleModules(absl::string_view entry);

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_REPORT_H_
