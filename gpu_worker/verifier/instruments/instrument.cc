#include "gpu_worker/verifier/instruments/instrument.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

// A few findings show what is wrong; a broken kernel produces one per thread.
constexpr int kPrintLimit = 10;
// Unused bytes after every allocation, so that the byte past a tensor is not another tensor's.
constexpr int kPaddingBytes = 256;
// The folder of NVIDIA's packages for the profilers that a toolkit's programs start.
constexpr char kNsightFolder[] = "/opt/nvidia";

bool InsideAnyway(const std::string& path) {
  for (const char* folder : {"/usr/", "/lib/", "/lib64/"}) {
    if (absl::StartsWith(path, folder)) return true;
  }
  return false;
}

// The folder of an installation: <root>/bin/program, or <root>/<tool>/program.
std::string InstallationOf(const fs::path& program) {
  return program.parent_path().parent_path().string();
}

}  // namespace

absl::StatusOr<Instrument> FindInstrument(const std::string& program,
                                          const std::string& compiler_path,
                                          const std::string& usual) {
  std::error_code error;
  std::vector<std::string> tried;
  if (absl::StartsWith(compiler_path, "/")) {
    tried.push_back(fs::path(compiler_path).parent_path() / program);
    const fs::path real = fs::canonical(compiler_path, error);
    if (!error) tried.push_back(real.parent_path() / program);
  }
  if (const auto on_path = FindOnPath(program); on_path.ok()) tried.push_back(*on_path);
  tried.push_back(fs::path(usual) / program);
  for (const std::string& path : tried) {
    if (::access(path.c_str(), X_OK) != 0) continue;
    // A sandbox may lack the links that lead there.
    const fs::path real = fs::canonical(path, error);
    if (error) continue;
    Instrument found = {real.string(), {}};
    const std::string installation = InstallationOf(real);
    if (installation.size() > 1 && !InsideAnyway(real.string())) {
      found.folders.push_back(installation);
    }
    if (!absl::StartsWith(installation, kNsightFolder) && fs::is_directory(kNsightFolder, error)) {
      found.folders.push_back(kNsightFolder);
    }
    return found;
  }
  std::sort(tried.begin(), tried.end());
  tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
  return absl::NotFoundError(absl::StrCat("no ", program, " (looked for ",
                                          absl::StrJoin(tried, ", "),
                                          "); it comes with the CUDA toolkit"));
}

InstrumentCommand SanitizerCommand(const Instrument& sanitizer, const std::string& tool) {
  InstrumentCommand command;
  command.folders = sanitizer.folders;
  command.words = {sanitizer.path,
                   "--tool",
                   tool,
                   "--log-file",
                   kInstrumentReportPath,
                   "--print-limit",
                   absl::StrCat(kPrintLimit),
                   "--show-backtrace",
                   "no"};
  if (tool == "memcheck") {
    // A driver call may fail on purpose; the candidate's own return value decides.
    for (const char* word : {"--report-api-errors", "no", "--padding"}) {
      command.words.push_back(word);
    }
    command.words.push_back(absl::StrCat(kPaddingBytes));
  }
  return command;
}

}  // namespace ksearch
