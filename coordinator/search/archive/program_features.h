#ifndef KSEARCH_COORDINATOR_SEARCH_ARCHIVE_PROGRAM_FEATURES_H_
#define KSEARCH_COORDINATOR_SEARCH_ARCHIVE_PROGRAM_FEATURES_H_

#include <string>

#include "proto/search_state.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// A program's text: all of its files, in the order of their paths.
std::string TextOf(const v1::Sources& sources);

// What populations know of a program's text.
v1::ProgramFeatures FeaturesOf(const v1::Sources& sources, bool with_sketch);

// OpenEvolve's cheap distance of two texts: 0.1 a character and 10 a line of difference in size,
// and 0.5 for each character that only one of them has (openevolve/database.py,
// _fast_code_diversity; here of bytes, which for source code is the same).
double TextDistance(const v1::ProgramFeatures& a, const v1::ProgramFeatures& b);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ARCHIVE_PROGRAM_FEATURES_H_
