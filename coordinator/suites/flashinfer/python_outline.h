#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_OUTLINE_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_OUTLINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

struct PythonOutline {
  // In the order of the file; `async def` does not count.
  std::vector<std::string> top_level_functions;
  // False: the rest of the file, from a field of an f-string on, was not understood. It may be
  // right and have further functions.
  bool complete = true;
};

// Reads a file in Python as far as its tokens and its indentation say what it is: no interpreter is
// needed, and nothing is run. What every version of Python refuses there is an error, "line 4: '('
// is never closed": brackets, strings, indentation, blocks without a body, NUL. What is wrong
// within a statement is not found.
absl::StatusOr<PythonOutline> OutlinePython(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_OUTLINE_H_
