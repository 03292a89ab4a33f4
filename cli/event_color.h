#ifndef KSEARCH_CLI_EVENT_COLOR_H_
#define KSEARCH_CLI_EVENT_COLOR_H_

#include <string>

#include "proto/search_service.pb.h"

namespace ksearch {

// Whether standard output shows colors: it is a terminal, NO_COLOR is not set (no-color.org), and
// TERM is not "dumb".
bool ShowsColors();

// `text`, a line about the event without its end: green for a confirmed program, red for a failure,
// yellow for a warning or a refusal, as it is for the rest.
std::string InColor(const v1::RunEvent& event, const std::string& text, bool colors);

}  // namespace ksearch

#endif  // KSEARCH_CLI_EVENT_COLOR_H_
