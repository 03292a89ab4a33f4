#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_PARAMETERS_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_PARAMETERS_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace ksearch {

// The parameters that the first `def` of a function declares.
struct PythonParameters {
  int count = 0;
  int without_default = 0;
  bool gathers = false;  // there is one like *all or **options; it counts, and has no default
  // Every parameter is a plain name, with or without a type: none has a default or begins with '*',
  // and there is no '/' or '*' between them.
  bool plain = true;
};

// Returns the parameters of the function `name` at the top level of a Python file. nullopt if no
// line defines it there, or if the list of parameters is not closed. Comments and strings within
// the list are ignored.
std::optional<PythonParameters> ParametersOf(absl::string_view text, absl::string_view name);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_PARAMETERS_H_
