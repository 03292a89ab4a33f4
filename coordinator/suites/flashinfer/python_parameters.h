#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_PARAMETERS_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_PARAMETERS_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace ksearch {

// What the first `def` of a function says of its parameters.
struct PythonParameters {
  int count = 0;
  // Each is given by a name alone, with or without its type: none has a default or begins with '*',
  // nor is there a '/' or '*' between them.
  bool plain = true;
};

// The parameters of the function `name` at the top level of a file in Python; nullopt if no line
// defines it there, or the parameters have no end. Comments and strings among the parameters are no
// parameters.
std::optional<PythonParameters> ParametersOf(absl::string_view text, absl::string_view name);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_PARAMETERS_H_
