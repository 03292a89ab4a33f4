#ifndef KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_SCRIPTS_H_
#define KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_SCRIPTS_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// The texts of the .py files beside this header, for `python3 -c`.
absl::string_view DescribeInterpreterScript();
absl::string_view CheckProgramScript();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_PYTHON_PYTHON_SCRIPTS_H_
