#ifndef KSEARCH_COORDINATOR_SEARCH_ARCHIVE_PROGRAM_FEATURES_H_
#define KSEARCH_COORDINATOR_SEARCH_ARCHIVE_PROGRAM_FEATURES_H_

#include <string>

#include "proto/search_state.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// A program's text: all of its files, in the order of their paths.
std::string TextOf(const v1::Sources& sources);

// The features of a program's text that populations use.
v1::ProgramFeatures FeaturesOf(const v1::Sources& sources, bool with_sketch);

// OpenEvolve's cheap distance of two texts: 0.1 per character and 10 per line of difference in
// size, and 0.5 for each character that occurs in only one of them (openevolve/database.py,
// _fast_code_diversity; here by bytes, which for source code is the same).
double TextDistance(const v1::ProgramFeatures& a, const v1::ProgramFeatures& b);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ARCHIVE_PROGRAM_FEATURES_H_
