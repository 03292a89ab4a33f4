#include "coordinator/tasks/directory_suite.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "coordinator/tasks/near_names.h"
#include "coordinator/tasks/task_folder.h"
#include "coordinator/tasks/task_summary.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 3;
constexpr size_t kMaxFolders = 10000;

struct Folder {
  std::string name;
  std::string path;
};

void FindFolders(const fs::path& dir, int depth, std::vector<Folder>* found) {
  std::vector<fs::path> below;
  std::error_code error;
  bool is_task = false;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (name == kDefinitionFile || name == kSettingsFile) is_task = true;
    if (it->is_directory(ignored) && name[0] != '.') below.push_back(it->path());
  }
  if (is_task) {
    if (found->size() < kMaxFolders) found->push_back({dir.filename().string(), dir.string()});
    return;
  }
  if (depth == kMaxDepth) return;
  std::sort(below.begin(), below.end());
  for (const fs::path& path : below) FindFolders(path, depth + 1, found);
}

class DirectorySuite final : public TaskSuite {
 public:
  explicit DirectorySuite(std::vector<std::string> dirs) : dirs_(std::move(dirs)) {}

  std::vector<v1::TaskSummary> List() const override {
    std::vector<v1::TaskSummary> summaries;
    absl::flat_hash_map<std::string, std::string> path_of_name;
    for (const Folder& folder : Folders()) {
      v1::TaskSummary summary;
      const auto [first, fresh] = path_of_name.emplace(folder.name, folder.path);
      if (!fresh) {
        summary.set_error(
            absl::StrCat(folder.path, ": hidden by the task of the same name in ", first->second));
      } else if (const absl::StatusOr<v1::Task> task = LoadTaskFolder(folder.path); task.ok()) {
        summary = SummarizeTask(*task);
      } else {
        summary.set_error(std::string(task.status().message()));
      }
      summary.set_name(folder.name);
      summary.set_path(folder.path);
      summaries.push_back(std::move(summary));
    }
    std::stable_sort(
        summaries.begin(), summaries.end(),
        [](const v1::TaskSummary& a, const v1::TaskSummary& b) { return a.name() < b.name(); });
    return summaries;
  }

  absl::StatusOr<v1::Task> Load(const std::string& name) const override {
    const std::vector<Folder> folders = Folders();
    std::vector<std::string> names;
    for (const Folder& folder : folders) {
      if (folder.name == name) return LoadTaskFolder(folder.path);
      names.push_back(folder.name);
    }
    const std::string searched = absl::StrJoin(dirs_, ", ");
    if (folders.empty()) {
      return absl::NotFoundError(absl::StrCat(
          "no task '", name, "': there are no tasks at all in ", searched,
          "; put task folders there, or name another folder with the coordinator's --task-dir "
          "(ksearch's own tasks, configs/tasks of its source, are found in ../configs/tasks and "
          "../share/ksearch/tasks, seen from the folder of ksearch-coordinator)"));
    }
    return absl::NotFoundError(absl::StrCat("no task '", name, "' in ", searched, "; nearest: ",
                                            absl::StrJoin(NearNames(name, names), ", ")));
  }

 private:
  std::vector<Folder> Folders() const {
    std::vector<Folder> folders;
    for (const std::string& dir : dirs_) FindFolders(dir, 0, &folders);
    // One folder may be found twice: task_dirs may name a part of the built-in tasks.
    std::vector<Folder> distinct;
    absl::flat_hash_set<std::string> seen;
    for (Folder& folder : folders) {
      std::error_code error;
      const fs::path real = fs::canonical(folder.path, error);
      if (error || seen.insert(real.string()).second) distinct.push_back(std::move(folder));
    }
    return distinct;
  }

  const std::vector<std::string> dirs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TaskSuite>> MakeDirectorySuite(std::vector<std::string> dirs) {
  for (std::string& dir : dirs) {
    std::error_code error;
    const fs::file_status status = fs::status(dir, error);
    if (!fs::exists(status)) {
      return absl::NotFoundError(absl::StrCat("task folder ", dir, " does not exist"));
    }
    if (!fs::is_directory(status)) {
      return absl::InvalidArgumentError(absl::StrCat("task folder ", dir, " is not a folder"));
    }
    // Other processes read the paths, too, with other working directories. A trailing slash would
    // make the folder's name empty.
    fs::path absolute;
    for (const fs::path& part : fs::absolute(dir, error)) {
      if (part != "." && !part.empty()) absolute /= part;
    }
    if (error) return ErrnoStatus(error.value(), absl::StrCat("task folder ", dir));
    dir = absolute.string();
  }
  return std::make_unique<DirectorySuite>(std::move(dirs));
}

}  // namespace ksearch
