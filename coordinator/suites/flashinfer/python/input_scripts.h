#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_INPUT_SCRIPTS_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_INPUT_SCRIPTS_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// The texts of the .py files beside this header. make_inputs, with @TENSORS@ to be filled in, makes
// one tensor by _ksearch_made, which each of the others defines.
absl::string_view MakeInputsScript();
absl::string_view MakeProbabilitiesScript();
absl::string_view MakePackedKeysScript();

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_INPUT_SCRIPTS_H_
