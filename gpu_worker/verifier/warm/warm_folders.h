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

// Keeps on disk what programs compiled in their warm stage. For each program, with the workloads
// that it was called with, an entry holds the program's own files ("program") and what it compiled
// ("compiled"). Compilers record paths, so runners must see an entry under the same path as when it
// was filled. One process owns the folders. An entry exists once Keep was called; unfinished
// entries of a dead process are removed. Thread-compatible.
class WarmFolders {
 public:
  static constexpr char kProgram[] = "program";
  static constexpr char kCompiled[] = "compiled";
  struct Entry {
    std::string path;    // absolute; program() and compiled() are in it
    std::string sha256;  // FolderSha256 of it
    std::string program() const { return path + "/" + kProgram; }
    std::string compiled() const { return path + "/" + kCompiled; }
  };

  // `folder` belongs to this process alone and is created if missing. UNAVAILABLE if it cannot be
  // written.
  static absl::StatusOr<std::unique_ptr<WarmFolders>> Create(const std::string& folder,
                                                             int64_t max_bytes);

  // The entry that was kept for `program` when called with at least these workloads.
  std::optional<Entry> Find(const std::string& program, const std::set<std::string>& workloads);
  // Makes a new entry with the files of `program_folder` and empty folders of these names for
  // compiler output; its sha256 is that of this initial state. It replaces an entry of the same
  // program and workloads.
  absl::StatusOr<Entry> Make(const std::string& program, const std::set<std::string>& workloads,
                             const std::string& program_folder,
                             const std::vector<std::string>& compiled);
  // To be called after the entry from the last Make was filled: sets its sha256 and keeps it. If
  // all entries together exceed `max_bytes`, drops others, least recently used first, but none that
  // was found, made or kept since the last Release. FAILED_PRECONDITION says which of its contents
  // cannot be kept.
  absl::Status Keep(Entry* entry);
  // Drops an entry that was found to be damaged.
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
  // `path` is passed by value because it may belong to the element that is removed.
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
