#ifndef KSEARCH_COORDINATOR_SEARCH_SHOWN_STATE_H_
#define KSEARCH_COORDINATOR_SEARCH_SHOWN_STATE_H_

#include <optional>
#include <string>

#include "coordinator/proposer/prompt.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// Parts of a search's state as prompts show them. Pure.

ShownCode Shown(const v1::ScreenedProgram& program);
inline bool HasProgram(const v1::ScreenedProgram& program) {
  return program.sources().files_size() > 0;
}
// Adds a program and its result to a prompt; no effect if there is none.
void Show(const v1::ScreenedProgram& program, WorldModelPromptContext* context);

// The result of a program that solved a node; nullopt if nothing is known about it.
std::optional<v1::JobResult> ResultOf(const v1::SearchState& state,
                                      const std::string& candidate_id);
std::optional<v1::ConfirmedProgram> ConfirmationOf(const v1::SearchState& state,
                                                   const std::string& candidate_id);

// One line for each cycle in progress except `own` (0: for all), best first.
std::string CyclesInFlight(const v1::SearchState& state, int own);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SHOWN_STATE_H_
