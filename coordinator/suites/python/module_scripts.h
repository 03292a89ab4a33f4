#ifndef KSEARCH_COORDINATOR_SUITES_PYTHON_MODULE_SCRIPTS_H_
#define KSEARCH_COORDINATOR_SUITES_PYTHON_MODULE_SCRIPTS_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// The texts of the .py files beside this header.
absl::string_view DescribeModuleScript();
absl::string_view ModuleEntryScript();  // with @NAMES@ to be filled in

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_PYTHON_MODULE_SCRIPTS_H_
