#include "coordinator/suites/flashinfer/flashinfer_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 20000;
constexpr int kMaxDepth = 32;

void AddFilesBelow(const fs::path& folder, const std::string& extension, int depth,
                   std::vector<std::string>* files) {
  std::error_code error;
  fs::directory_iterator it(folder, error);
  // It is told when it is read.
  if (error && error != std::errc::no_such_file_or_directory) files->push_back(folder.string());
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const bool is_folder = it->is_directory(ignored);
    if (is_folder && !it->is_symlink(ignored) && depth < kMaxDepth) {
      AddFilesBelow(it->path(), extension, depth + 1, files);
    } else if (!is_folder && it->path().extension() == extension && files->size() < kMaxFiles) {
      files->push_back(it->path().string());
    }
  }
}

}  // namespace

std::vector<std::string> FilesBelow(const std::string& folder, const std::string& extension) {
  std::vector<std::string> files;
  AddFilesBelow(folder, extension, 0, &files);
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<FoundSolution> FindSolutions(const std::string& root, const std::string& definition) {
  std::vector<FoundSolution> solutions;
  for (const std::string& path : FilesBelow(absl::StrCat(root, "/solutions"), ".json")) {
    bool is_its_own = fs::path(path).parent_path().filename() == definition;
    const auto text = ReadFile(path, kMaxSolutionBytes);
    if (!text.ok()) {
      if (is_its_own) solutions.push_back({path, fs::path(path).stem().string(), text.status()});
      continue;
    }
    // A data set has thousands of files, of which only a few need parsing.
    if (!is_its_own && !absl::StrContains(*text, definition)) continue;
    is_its_own |= absl::StrContains(*text, absl::StrCat("\"", definition, "\""));
    absl::StatusOr<FlashInferSolution> solution = ParseFlashInferSolution(*text, path);
    if (solution.ok() ? solution->definition != definition : !is_its_own) continue;
    const std::string name = solution.ok() ? solution->name : fs::path(path).stem().string();
    for (const FoundSolution& other : solutions) {
      if (other.name == name) {
        solution = absl::InvalidArgumentError(
            absl::StrCat(path, ": the solution '", name, "' is in ", other.path, " too"));
      }
    }
    solutions.push_back({path, name, std::move(solution)});
  }
  std::stable_sort(solutions.begin(), solutions.end(),
                   [](const FoundSolution& a, const FoundSolution& b) { return a.name < b.name; });
  return solutions;
}

std::vector<FlashInferTrace> FindTraces(const std::string& root, const std::string& definition) {
  std::vector<FlashInferTrace> traces;
  for (const std::string& path : FilesBelow(absl::StrCat(root, "/traces"), ".jsonl")) {
    if (fs::path(path).stem() != definition) continue;
    const auto text = ReadFile(path, kMaxTracesBytes);
    if (!text.ok()) continue;
    for (FlashInferTrace& trace : ParseFlashInferTraces(*text, path, definition)) {
      traces.push_back(std::move(trace));
    }
  }
  return traces;
}

}  // namespace ksearch
