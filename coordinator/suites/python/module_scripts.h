#ifndef KSEARCH_COORDINATOR_SUITES_PYTHON_MODULE_SCRIPTS_H_
#define KSEARCH_COORDINATOR_SUITES_PYTHON_MODULE_SCRIPTS_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// The texts of the .py files beside this header, some with @NAMES@ to be filled in.
absl::string_view DescribeModuleScript();  // with describing.py
absl::string_view ModuleEntryScript();
absl::string_view ModuleInputsScript();
absl::string_view ModuleExportScript();
absl::string_view PythonProgramScript();
absl::string_view NativeProgramScript();
// ksearch_cuda.h, which programs in CUDA may include.
absl::string_view CudaHeaderText();

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_PYTHON_MODULE_SCRIPTS_H_
