#ifndef KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_
#define KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/config.pb.h"

namespace ksearch {

// What the command line requests besides the configuration.
struct CommandLineActions {
  std::string backup;  // copy the database here and exit; empty: do not
  // Remove these runs and all that ended before a time, after archiving them to `archive`, and
  // exit.
  std::vector<std::string> remove_runs;
  absl::Time remove_runs_before = absl::InfinitePast();
  std::string archive;
  bool removes_runs() const {
    return !remove_runs.empty() || remove_runs_before != absl::InfinitePast();
  }
  bool exit_when_waiting = false;
  bool check_config = false;  // only check the configuration and exit
  std::string dashboard;      // address of the dashboard, IP:PORT; empty: none
  // host names besides localhost by which it may be opened
  std::vector<std::string> dashboard_hosts;
};

// The command line of ksearch-coordinator over its config file over the defaults of config.proto.
//   --config FILE --listen ADDR --state-dir DIR --task-dir DIR (repeatable) --backup FILE
//   --remove-run RUN (repeatable) --remove-runs-before YYYY-MM-DD (UTC) --archive FILE
//   --suite SUITE (repeatable) --sink SINK (repeatable)
//   --dashboard IP:PORT --dashboard-host NAME (repeatable) --exit-when-waiting --check-config (both
//   without a value)
// INVALID_ARGUMENT lists every fault, each with its argument or file:line:column.
absl::StatusOr<v1::CoordinatorConfig> LoadCoordinatorConfig(const std::vector<std::string>& args,
                                                            CommandLineActions* actions);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_
