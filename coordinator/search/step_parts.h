#ifndef KSEARCH_COORDINATOR_SEARCH_STEP_PARTS_H_
#define KSEARCH_COORDINATOR_SEARCH_STEP_PARTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// Parts of a StepOutput. An event's text is one line of at most 300 bytes. The returned pointer is
// into `out` and becomes invalid with the next event.
v1::RunEvent* AddEvent(v1::RunEvent::Kind kind, absl::string_view text, StepOutput* out);

// The same, about a cycle: its number, round and node.
v1::RunEvent* AddEvent(v1::RunEvent::Kind kind, absl::string_view text, const v1::CycleState& cycle,
                       StepOutput* out);

// "a program runs at 96 % of the floor": why nothing new begins.
std::string AtFloorText(const v1::ScreenedProgram& program);

// Turns `event` into CANDIDATE_PASSED or CANDIDATE_FAILED.
void DescribeVerdict(const v1::ScreenedProgram& program, v1::RunEvent* event);

// The programs that a run starts from, without duplicates, in the order in which they were given;
// only the first of them; and the screening of one of them (counted from 0), which is round 0 of
// node root and belongs to no cycle.
std::vector<v1::Sources> GivenSources(const v1::RunConfig& config);
v1::Sources SeedSources(const v1::RunConfig& config);
ScreenCandidate SeedScreen(const v1::Sources& sources, int number);
inline bool HasSeeds(const v1::RunConfig& config) {
  return config.seed_solution_size() > 0 || config.seeds_size() > 0;
}

// The screening of the program that `cycle` awaits.
ScreenCandidate CycleScreen(const v1::CycleState& cycle);

// Marks a change of the tree since `revision` as no reason to ask for intents again.
void KeepProposedSince(int64_t revision, v1::SearchState* state);

// Completes an action that the search itself inserts under the root: `node` has its decision,
// choice, and the action's texts and difficulty. Its id is `name`, with a suffix if that is already
// used.
v1::Node UnderRoot(const v1::WorldModel& model, const std::string& name, const std::string& task,
                   int round, double score, v1::Node node);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_STEP_PARTS_H_
