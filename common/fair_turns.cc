#include "common/fair_turns.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/run_priority.h"

namespace ksearch {
namespace {

// Work that is expected to take no time still uses up a turn.
constexpr absl::Duration kLeast = absl::Milliseconds(1);
// Keeps virtual time far from overflow, whatever a caller expects.
constexpr absl::Duration kMost = absl::Hours(24);

}  // namespace

Turn FairTurns::Next(const std::string& run_id, Line line, absl::Duration expected) {
  const bool confirms = line == Line::kConfirmations;
  int64_t& end = ends_[absl::StrCat(run_id, confirms ? "/confirm" : "")];
  Turn turn;
  turn.start_us = std::max(now_us_, end);
  turn.order = next_order_++;
  const auto known = priorities_.find(run_id);
  int priority = known == priorities_.end() ? kDefaultPriority : known->second;
  if (confirms) priority = std::max(priority, kDefaultPriority);
  end = turn.start_us + absl::ToInt64Microseconds(std::clamp(expected, kLeast, kMost)) *
                            kDefaultPriority / priority;
  return turn;
}

void FairTurns::SetPriority(const std::string& run_id, int priority) {
  if (priority == kDefaultPriority) {
    priorities_.erase(run_id);
  } else {
    priorities_[run_id] = std::clamp(priority, kLeastPriority, kMostPriority);
  }
}

void FairTurns::Reached(const Turn& turn) { now_us_ = std::max(now_us_, turn.start_us); }

}  // namespace ksearch
