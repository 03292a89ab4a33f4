#ifndef KSEARCH_TESTS_COMMON_PYTHON_WITH_TORCH_H_
#define KSEARCH_TESTS_COMMON_PYTHON_WITH_TORCH_H_

#include <string>

namespace ksearch {

// Debian's interpreter, which imports torch once python3-torch is installed
// (deploy/install_deps.sh --with-python).
inline constexpr char kPython[] = "/usr/bin/python3";

// kPython as a worker's configuration names it.
inline constexpr char kPythonToolchain[] =
    "toolchains { language: LANGUAGE_PYTHON interpreter: \"/usr/bin/python3\" }\n";

// Returns true if kPython imports torch; tests that need it are skipped elsewhere. Takes seconds,
// once.
bool HasTorch();

// Returns true if its torch has this name: "compile", a dtype.
bool TorchHas(const std::string& name);

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COMMON_PYTHON_WITH_TORCH_H_
