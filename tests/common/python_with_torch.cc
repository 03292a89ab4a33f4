#include "tests/common/python_with_torch.h"

#include "common/subprocess.h"

namespace ksearch {

namespace {

bool Runs(const std::string& script) {
  SubprocessOptions options;
  options.argv = {kPython, "-I", "-c", script};
  const absl::StatusOr<CommandOutput> output = RunCommand(options, absl::Minutes(2));
  return output.ok() && !output->exit.signaled && output->exit.code == 0;
}

}  // namespace

bool HasTorch() {
  static const bool has_torch = Runs("import torch");
  return has_torch;
}

bool TorchHas(const std::string& name) { return Runs("import torch; torch." + name); }

}  // namespace ksearch
