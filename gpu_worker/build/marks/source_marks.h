#ifndef KSEARCH_GPU_WORKER_BUILD_MARKS_SOURCE_MARKS_H_
#define KSEARCH_GPU_WORKER_BUILD_MARKS_SOURCE_MARKS_H_

#include <string>
#include <vector>

#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// What the text of a candidate does that no kernel needs, for people and prompts: "source: opens
// files: fopen at kernel.cu:12". The first place of each kind, the kinds in
// alphabetical order; the table is in the .cc. Those of a language whose builder parses its
// programs are warnings of `report` (python/program_marks.py), to which files in other languages
// beside them add theirs. This only raises the bar for attackers: what must not happen is
// prevented elsewhere, and text can be disguised. A candidate with marks is never the best one.
std::vector<std::string> SourceMarks(const v1::Sources& sources, const v1::BuildReport& report);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_MARKS_SOURCE_MARKS_H_
