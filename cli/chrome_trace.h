#ifndef KSEARCH_CLI_CHROME_TRACE_H_
#define KSEARCH_CLI_CHROME_TRACE_H_

#include <string>
#include <vector>

#include "proto/search_service.pb.h"

namespace ksearch {

// Returns a run's timeline in the Trace Event Format of Chrome, which ui.perfetto.dev also opens,
// as one JSON object: a process "models" with the calls, and one process per worker with the stages
// of each job (queue, build, wait, device) and the use of each of its devices. Overlapping entries
// are in separate rows. Times are microseconds since the first entry; entries without an end are
// omitted.
std::string ChromeTrace(const std::string& run_id, const std::vector<v1::TimelineEntry>& entries);

}  // namespace ksearch

#endif  // KSEARCH_CLI_CHROME_TRACE_H_
