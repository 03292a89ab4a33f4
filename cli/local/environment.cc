#include "cli/local/environment.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace ksearch {
namespace {

// Names, and beginnings of names that end in an underscore.
constexpr absl::string_view kOfEveryProgram[] = {
    "PATH", "HOME",   "USER",        "LOGNAME",      "LANG",         "LC_",
    "TZ",   "TMPDIR", "KSEARCH_LOG", "ASAN_OPTIONS", "UBSAN_OPTIONS"};
constexpr absl::string_view kOfCoordinators[] = {
    "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "http_proxy", "HTTPS_PROXY",
    "https_proxy",   "ALL_PROXY",    "all_proxy",      "NO_PROXY",   "no_proxy"};
constexpr absl::string_view kOfWorkers[] = {"LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX",
                                            "PYENV_",          "CUDA_",       "NVIDIA_"};

template <typename Names>
void CopyNamed(const Names& names, const Environment& from, Environment* to) {
  for (const auto& [name, value] : from) {
    const bool wanted =
        std::any_of(std::begin(names), std::end(names), [&name = name](absl::string_view known) {
          return absl::EndsWith(known, "_") ? absl::StartsWith(name, known) : name == known;
        });
    if (wanted) (*to)[name] = value;
  }
}

}  // namespace

Environment CurrentEnvironment() {
  Environment environment;
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

std::string ValueOf(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return "";
  return std::string(absl::StripAsciiWhitespace(found->second));
}

Environment CoordinatorEnvironment(const Environment& environment,
                                   const std::vector<std::string>& keys) {
  Environment result;
  CopyNamed(kOfEveryProgram, environment, &result);
  CopyNamed(kOfCoordinators, environment, &result);
  for (const std::string& key : keys) {
    const auto found = environment.find(key);
    if (found != environment.end()) result[key] = found->second;
  }
  return result;
}

Environment WorkerEnvironment(const Environment& environment) {
  Environment result;
  CopyNamed(kOfEveryProgram, environment, &result);
  CopyNamed(kOfWorkers, environment, &result);
  return result;
}

}  // namespace ksearch
