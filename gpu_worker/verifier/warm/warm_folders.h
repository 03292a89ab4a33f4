#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_FOLDERS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_FOLDERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ksearch {

// Keeps on disk what programs compiled in their warm stage: for each program and the workloads that
// it was called with a folder of the program's own files ("program") and of what it compiled
// ("compiled"). Compilers remember where they put something, so runners must see an entry under the
// path under which it was filled. One process owns the folders. An entry is there once it was kept:
// what a dead process left half done is removed. Thread-compatible.
class WarmFolders {
 public:
  static constexpr char kProgram[] = "program";
  static constexpr char kCompiled[] = "compiled";
  struct Entry {
    std::string path;    // absolute; program() and compiled() lie in it
    std::string sha256;  // FolderSha256 of it
    std::string program() const { return path + "/" + kProgram; }
    std::string compiled() const { return path + "/" + kCompiled; }
  };

  // `folder`, made if missing, is this process' own. UNAVAILABLE if it cannot be written.
  static absl::StatusOr<std::unique_ptr<WarmFolders>> Create(const std::string& folder,
                                                             int64_t max_bytes);

  // What was kept for `program` called with at least these workloads.
  std::optional<Entry> Find(const std::string& program, const std::set<std::string>& workloads);
  // A fresh entry with the files of `program_folder`, and empty folders of these names to compile
  // into; its sha256 is that of this beginning. It replaces one of the same program and workloads.
  absl::StatusOr<Entry> Make(const std::string& program, const std::set<std::string>& workloads,
                             const std::string& program_folder,
                             const std::vector<std::string>& compiled);
  // After the entry that was made last was filled: sets its sha256, and keeps it. Others are
  // dropped, least recently used first, if all are more than `max_bytes`; none that was found, made
  // or kept since the last Release. FAILED_PRECONDITION says what of its contents cannot be kept.
  absl::Status Keep(Entry* entry);
  // One that was found and turned out to be damaged.
  void Drop(const Entry& entry) { Remove(entry.path); }
  // The entries of one job are no longer in use.
  void Release() { in_use_.clear(); }

 private:
  struct Kept {
    Entry entry;
    std::string program;
    std::set<std::string> workloads;
    int64_t bytes = 0;
    int64_t last_use = 0;
  };

  WarmFolders(std::string folder, int64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  void ReadKept();
  void DropOld();
  // `path` by value: it may be that of an element that goes.
  void Remove(std::string path);

  const std::string folder_;
  const int64_t max_bytes_;
  std::vector<Kept> kept_;
  std::set<std::string> in_use_;  // paths
  std::optional<Kept> made_;
  int64_t uses_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_FOLDERS_H_
