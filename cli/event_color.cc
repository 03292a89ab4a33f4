#include "cli/event_color.h"

#include <stdlib.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ksearch {
namespace {

constexpr char kGreen[] = "\x1b[32m", kRed[] = "\x1b[31m", kYellow[] = "\x1b[33m",
               kPlain[] = "\x1b[0m";

const char* ColorOf(const v1::RunEvent& event) {
  switch (event.kind()) {
    case v1::RunEvent::NEW_INCUMBENT:
      return kGreen;
    case v1::RunEvent::CANDIDATE_FAILED:
    case v1::RunEvent::REPLY_UNUSABLE:
      return kRed;
    case v1::RunEvent::CONFIRMATION_REFUSED:
    case v1::RunEvent::BUDGET_WARNING:
    case v1::RunEvent::STEERED:
    case v1::RunEvent::NODE_TOO_HARD:
      return kYellow;
    case v1::RunEvent::RUN_ENDED:
      return event.run().state() == v1::RUN_STATE_FAILED ? kRed : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

bool ShowsColors() {
  const char* const no_color = ::getenv("NO_COLOR");
  const char* const terminal = ::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || absl::string_view(terminal) != "dumb");
}

std::string InColor(const v1::RunEvent& event, const std::string& text, bool colors) {
  const char* const color = colors ? ColorOf(event) : nullptr;
  return color == nullptr ? text : absl::StrCat(color, text, kPlain);
}

}  // namespace ksearch
