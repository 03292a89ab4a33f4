#ifndef KSEARCH_COORDINATOR_SEARCH_EVALUATION_RULES_H_
#define KSEARCH_COORDINATOR_SEARCH_EVALUATION_RULES_H_

#include <string>

#include "proto/config.pb.h"

namespace ksearch {

// How a strategy has programs evaluated, and what it keeps about them; constant for a run.
struct EvaluationRules {
  v1::Preset preset = v1::PRESET_DEFAULT;  // whose mean a score is, see ScoreOf
  bool on_gpu = false;
  // Unspecified: no profiles.
  v1::ProfilePolicy profile = v1::PROFILE_POLICY_UNSPECIFIED;
  bool shows_profiles = false;  // prompts show profiles: PROFILE_POLICY_AUTO asks for them
  bool examine_new_bests = false;
  // RunConfig.floor_share; 0: never.
  double floor_share = 0;
  // Whether the log keeps results, short ones, beside the programs' ids. Otherwise code that shows
  // a program reads it from a ProgramShelf.
  bool keeps_results = false;
  std::string seed_node;  // what events on the given program name as their node; may be empty
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_EVALUATION_RULES_H_
