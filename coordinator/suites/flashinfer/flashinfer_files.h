#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_FILES_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/suites/flashinfer/flashinfer_solution.h"
#include "coordinator/suites/flashinfer/flashinfer_traces.h"

namespace ksearch {

// Returns the files below a folder of a data set that end in `extension` (".json"), ordered by
// path; at most 20000. Pipes, broken links and folders that cannot be opened are among them, so
// that reading tells what is wrong. Empty if the folder does not exist.
std::vector<std::string> FilesBelow(const std::string& folder, const std::string& extension);

struct FoundSolution {
  std::string path;
  std::string name;  // of the solution, or of the file if it is not a valid solution
  absl::StatusOr<FlashInferSolution> solution;
};

// The solutions of `definition` in the data set below `root`, sorted by name. A file that cannot be
// read is listed if its folder or a text in it is the definition's name; a second file of one name
// is an error.
std::vector<FoundSolution> FindSolutions(const std::string& root, const std::string& definition);

// Returns the recorded evaluations of `definition` from the files below `root`/traces that have its
// name.
std::vector<FlashInferTrace> FindTraces(const std::string& root, const std::string& definition);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_FILES_H_
