#include "tests/common/python_with_torch.h"

#include "common/subprocess.h"

namespace ksearch {

bool HasTorch() {
  static const bool has_torch = [] {
    SubprocessOptions options;
    options.argv = {kPython, "-I", "-c", "import torch"};
    const absl::StatusOr<CommandOutput> output = RunCommand(options, absl::Minutes(2));
    return output.ok() && !output->exit.signaled && output->exit.code == 0;
  }();
  return has_torch;
}

}  // namespace ksearch
