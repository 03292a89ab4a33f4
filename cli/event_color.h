#ifndef KSEARCH_CLI_EVENT_COLOR_H_
#define KSEARCH_CLI_EVENT_COLOR_H_

#include <string>

#include "proto/search_service.pb.h"

namespace ksearch {

// Returns true if standard output shows colors: it is a terminal, NO_COLOR is not set
// (no-color.org), and TERM is not "dumb".
bool ShowsColors();

// Returns `text`, a line about the event without its end, in color: green for a confirmed program,
// red for a failure, yellow for a warning or a refusal; other events are unchanged.
std::string InColor(const v1::RunEvent& event, const std::string& text, bool colors);

}  // namespace ksearch

#endif  // KSEARCH_CLI_EVENT_COLOR_H_
