#ifndef KSEARCH_GPU_WORKER_BUILD_MARKS_SOURCE_MARKS_H_
#define KSEARCH_GPU_WORKER_BUILD_MARKS_SOURCE_MARKS_H_

#include <string>
#include <vector>

#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// Returns suspicious actions in a candidate's text that no kernel needs, for people and prompts:
// "source: opens files: fopen at kernel.cu:12". Gives the first place of each kind, the kinds in
// alphabetical order; the table is in the .cc. For a language whose builder parses its programs,
// the marks are warnings of `report` (python/program_marks.py), to which files in other languages
// add theirs. Marks only make attacks harder: forbidden actions are prevented elsewhere, and text
// can be disguised. A candidate with marks is never the best one.
std::vector<std::string> SourceMarks(const v1::Sources& sources, const v1::BuildReport& report);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_MARKS_SOURCE_MARKS_H_
