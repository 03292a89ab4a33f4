#ifndef KSEARCH_CLI_CHROME_TRACE_H_
#define KSEARCH_CLI_CHROME_TRACE_H_

#include <string>
#include <vector>

#include "proto/search_service.pb.h"

namespace ksearch {

// A run's timeline in the Trace Event Format of Chrome, which ui.perfetto.dev opens too: a process
// "models" with the calls, and one per worker with what it did for each job (queue, build, wait,
// device) and what each of its devices did. What overlaps lies in rows below each other. Times are
// microseconds from the first entry on; what has no end is left out. One JSON object.
std::string ChromeTrace(const std::string& run_id, const std::vector<v1::TimelineEntry>& entries);

}  // namespace ksearch

#endif  // KSEARCH_CLI_CHROME_TRACE_H_
