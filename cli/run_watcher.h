#ifndef KSEARCH_CLI_RUN_WATCHER_H_
#define KSEARCH_CLI_RUN_WATCHER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/client.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Follows a run until it ends: a line per event, and on a terminal a progress bar below them. With
// options.json a line of JSON for the status at the beginning and for each event (WatchRunReply
// with one field set); the caller prints the last status. While nothing happens, a status line goes
// to stderr every options.progress (default: 30 s where stdout is not a terminal). At an interrupt
// it says that the run continues and exits with 130. Reconnects when the coordinator goes
// away and comes back within 60 s. Returns the final status.
absl::StatusOr<v1::RunStatus> WatchRun(Client* client, const std::string& run_id,
                                       const Options& options);

// Passes on every event of a run after `after_seq` until the run ends. Reconnects as WatchRun does.
absl::Status FollowRun(Client* client, const std::string& run_id, int64_t after_seq,
                       const std::function<void(const v1::RunEvent&)>& take);

// Returns the text at the end of a run: a table of its events and the best candidate.
std::string FinalTable(const v1::RunStatus& status, const v1::ListEventsReply& events);

}  // namespace ksearch

#endif  // KSEARCH_CLI_RUN_WATCHER_H_
