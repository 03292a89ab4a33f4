#ifndef KSEARCH_COORDINATOR_SEARCH_STEP_PARTS_H_
#define KSEARCH_COORDINATOR_SEARCH_STEP_PARTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// Pieces of a StepOutput. An event's text is one line of at most 300 bytes; the event returned is
// in `out` and moves with its next event.
v1::RunEvent* AddEvent(v1::RunEvent::Kind kind, absl::string_view text, StepOutput* out);

// The same, about a cycle: its number, round and node.
v1::RunEvent* AddEvent(v1::RunEvent::Kind kind, absl::string_view text, const v1::CycleState& cycle,
                       StepOutput* out);

// "a program runs at 96 % of the floor": why nothing new begins.
std::string AtFloorText(const v1::ScreenedProgram& program);

// Turns `event` into CANDIDATE_PASSED or CANDIDATE_FAILED.
void DescribeVerdict(const v1::ScreenedProgram& program, v1::RunEvent* event);

// The programs a run starts from, each once, in the order in which they were given; the first one
// alone, and the screening of one of them (counted from 0): round 0 of no cycle, node root.
std::vector<v1::Sources> GivenSources(const v1::RunConfig& config);
v1::Sources SeedSources(const v1::RunConfig& config);
ScreenCandidate SeedScreen(const v1::Sources& sources, int number);
inline bool HasSeeds(const v1::RunConfig& config) {
  return config.seed_solution_size() > 0 || config.seeds_size() > 0;
}

// The screening of the program that `cycle` awaits.
ScreenCandidate CycleScreen(const v1::CycleState& cycle);

// After a change of the tree, from `revision` on, that is no reason to ask for intents again.
void KeepProposedSince(int64_t revision, v1::SearchState* state);

// An action that the machine inserts under the root: `node` has its decision, choice and the
// action's texts and difficulty; the rest is filled in. Its id is `name`, with a suffix once that
// is taken.
v1::Node UnderRoot(const v1::WorldModel& model, const std::string& name, const std::string& task,
                   int round, double score, v1::Node node);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_STEP_PARTS_H_
