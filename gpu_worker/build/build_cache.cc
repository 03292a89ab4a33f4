#include "gpu_worker/build/build_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/folder_digest.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

// In an entry's folder: the artifact (successes only), a file or a folder; how it is loaded, if
// BuildResult.loading is set; and outcome, message and build report as a serialized JobResult.
constexpr char kArtifactFile[] = "/kernel.so";
constexpr char kArtifactFolder[] = "/program";
constexpr char kLoadingFile[] = "/loading.pb";
constexpr char kResultFile[] = "/result.pb";
constexpr char kTemporaryPrefix[] = "tmp-";

// Raise it with every change of what a delayed build does.
constexpr char kDelayedBuild[] = "delayed 1";
constexpr char kLinedBuild[] = "lined 1";

constexpr int64_t kMaxResultBytes = int64_t{1} << 20;
constexpr int64_t kMaxArtifactBytes = int64_t{1} << 30;
// Age at which an unfinished entry of a dead process is removed.
constexpr auto kTemporaryLife = std::chrono::hours(1);

bool Cacheable(const BuildResult& result) {
  switch (result.outcome) {
    case v1::OUTCOME_PASSED:
    case v1::OUTCOME_INVALID_SOURCE:
    case v1::OUTCOME_COMPILE_ERROR:
    case v1::OUTCOME_COMPILE_LIMIT:
      return true;
    default:
      return false;
  }
}

int64_t FolderBytes(const fs::path& folder) {
  int64_t total = 0;
  std::error_code error;
  for (const auto& file : fs::recursive_directory_iterator(folder, error)) {
    std::error_code ignored;
    const auto size = file.file_size(ignored);
    if (!ignored) total += static_cast<int64_t>(size);
  }
  return total;
}

absl::Status CopyOrLink(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  std::error_code error;
  fs::copy_file(from, to, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("copy ", from, " to ", to, ": ", error.message()));
}

// Copies everything below a folder, as hard links to the same files where possible.
absl::Status CopyFolder(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::create_directory(to, error);
  fs::recursive_directory_iterator at(from, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string target = to + "/" + at->path().lexically_relative(from).string();
    if (at->symlink_status(error).type() == fs::file_type::directory) {
      fs::create_directory(target, error);
      if (error) break;
    } else {
      RETURN_IF_ERROR(CopyOrLink(at->path().string(), target));
    }
  }
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("copy ", from, " to ", to, ": ", error.message()));
}

// The SHA-256 of an artifact, as in BuildReport.
absl::StatusOr<std::string> ArtifactSha256(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return FolderSha256(path, kMaxArtifactBytes);
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxArtifactBytes));
  return Sha256Hex(bytes);
}

absl::Status WriteEntry(const std::string& folder, const BuildResult& result) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::InternalError(absl::StrCat("mkdir ", folder, ": ", error.message()));
  v1::JobResult stored;
  stored.set_outcome(result.outcome);
  stored.set_message(result.message);
  *stored.mutable_build() = result.report;
  RETURN_IF_ERROR(WriteFileAtomically(folder + kResultFile, stored.SerializeAsString()));
  if (result.outcome != v1::OUTCOME_PASSED) return absl::OkStatus();
  if (!result.loading.has_runner()) {
    return CopyOrLink(result.artifact_path, folder + kArtifactFile);
  }
  RETURN_IF_ERROR(WriteFileAtomically(folder + kLoadingFile, result.loading.SerializeAsString()));
  return CopyFolder(result.artifact_path, folder + kArtifactFolder);
}

std::optional<BuildResult> ReadEntry(const std::string& folder) {
  const auto bytes = ReadFile(folder + kResultFile, kMaxResultBytes);
  v1::JobResult stored;
  if (!bytes.ok() || !stored.ParseFromString(*bytes)) return std::nullopt;
  BuildResult result;
  result.outcome = stored.outcome();
  result.message = stored.message();
  result.report = stored.build();
  result.report.set_cached(true);
  if (!Cacheable(result)) return std::nullopt;
  if (result.outcome == v1::OUTCOME_PASSED) {
    const auto loading = ReadFile(folder + kLoadingFile, kMaxResultBytes);
    if (!loading.ok() && !absl::IsNotFound(loading.status())) return std::nullopt;
    if (loading.ok() &&
        !(result.loading.ParseFromString(*loading) && result.loading.has_runner())) {
      return std::nullopt;
    }
    result.artifact_path = folder + (loading.ok() ? kArtifactFolder : kArtifactFile);
    const auto sha256 = ArtifactSha256(result.artifact_path);
    if (!sha256.ok() || *sha256 != result.report.artifact_sha256()) return std::nullopt;
  }
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BuildCache>> BuildCache::Create(std::unique_ptr<Builder> builder,
                                                               const std::string& folder,
                                                               int64_t max_bytes) {
  std::error_code error;
  const std::string absolute = fs::absolute(folder).string();
  fs::create_directories(absolute, error);
  if (error || ::access(absolute.c_str(), W_OK) != 0) {
    return absl::UnavailableError(absl::StrCat("build cache ", absolute, " is not writable"));
  }
  std::unique_ptr<BuildCache> cache(new BuildCache(std::move(builder), absolute, max_bytes));
  cache->ScanFolder();
  cache->DropOldEntries();
  return cache;
}

void BuildCache::ScanFolder() {
  struct Found {
    std::string key;
    int64_t bytes;
    fs::file_time_type used;
  };
  std::vector<Found> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename();
    std::error_code ignored;
    if (absl::StartsWith(name, kTemporaryPrefix)) {
      if (entry.last_write_time(ignored) + kTemporaryLife < fs::file_time_type::clock::now()) {
        fs::remove_all(entry.path(), ignored);
      }
    } else if (IsSha256Hex(name)) {
      found.push_back({name, FolderBytes(entry.path()), entry.last_write_time(ignored)});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.used < b.used; });
  MutexLock lock(&mu_);
  for (const Found& entry : found) {
    entries_[entry.key] = Entry{.bytes = entry.bytes, .last_use = ++uses_, .hold = {}};
  }
}

std::string BuildCache::Key(const BuildRequest& request) const {
  CanonicalBytes bytes;
  bytes.Add("build 3")
      .Add(builder_->fingerprint())
      .Add(CandidateId(request.sources))
      .Add(request.kernel_header)
      .Add(absl::ToInt64Milliseconds(FromProto(request.limits.build_time())))
      .Add(request.limits.source_bytes())
      .Add(request.limits.artifact_bytes())
      .Add(request.architecture);
  if (request.variant == BuildVariant::kDelayed) bytes.Add(kDelayedBuild);
  if (request.variant == BuildVariant::kLined) bytes.Add(kLinedBuild);
  return bytes.Sha256();
}

absl::StatusOr<BuildResult> BuildCache::Build(const BuildRequest& request, std::stop_token stop) {
  const std::string key = Key(request);
  const std::stop_callback wake(stop, [this] {
    MutexLock lock(&mu_);
    changed_.NotifyAll();
  });
  while (true) {
    std::shared_ptr<Building> building;
    {
      MutexLock lock(&mu_);
      auto [at, first] = building_.try_emplace(key, nullptr);
      if (first) {
        at->second = std::make_shared<Building>();
      } else {
        building = at->second;
        while (!building->done && !stop.stop_requested()) changed_.Wait(&mu_);
        if (!building->done) return absl::CancelledError("build cancelled");
      }
    }
    if (building == nullptr) return BuildOnce(key, request, stop);
    // The caller that was building may have been cancelled; this one was not.
    if (!absl::IsCancelled(building->result.status())) return building->result;
    if (stop.stop_requested()) return absl::CancelledError("build cancelled");
  }
}

absl::StatusOr<BuildResult> BuildCache::BuildOnce(const std::string& key,
                                                  const BuildRequest& request,
                                                  std::stop_token stop) {
  absl::StatusOr<BuildResult> result = absl::UnknownError("not built");
  if (std::optional<BuildResult> found = Find(key)) {
    result = *std::move(found);
  } else {
    result = builder_->Build(request, stop);
    if (result.ok() && Cacheable(*result)) result = Store(key, *std::move(result));
  }
  {
    MutexLock lock(&mu_);
    const auto at = building_.find(key);
    at->second->result = result;
    at->second->done = true;
    building_.erase(at);
  }
  changed_.NotifyAll();
  DropOldEntries();
  return result;
}

std::optional<BuildResult> BuildCache::Find(const std::string& key) {
  const std::string folder = EntryFolder(key);
  if (::access(folder.c_str(), F_OK) != 0) return std::nullopt;
  // Pinned before it is read, so that it cannot be dropped in between.
  std::shared_ptr<const void> hold = Pin(key, FolderBytes(folder));
  std::optional<BuildResult> result = ReadEntry(folder);
  if (!result.has_value()) {
    LOG(WARNING) << "msg=\"damaged build cache entry removed\" key=" << key;
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    MutexLock lock(&mu_);
    entries_.erase(key);
    return std::nullopt;
  }
  std::error_code ignored;  // records the time of use, for the next process
  fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);
  result->artifact_hold = std::move(hold);
  return result;
}

BuildResult BuildCache::Store(const std::string& key, BuildResult result) {
  const std::string temporary = absl::StrCat(folder_, "/", kTemporaryPrefix, RandomHex(8));
  const std::string folder = EntryFolder(key);
  const absl::Status written = WriteEntry(temporary, result);
  // A folder that is already there is another process's equal entry.
  const bool placed = written.ok() && (::rename(temporary.c_str(), folder.c_str()) == 0 ||
                                       errno == ENOTEMPTY || errno == EEXIST);
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  if (!placed) {
    LOG(WARNING) << "msg=\"build not cached\" reason=\"" << written.message() << "\"";
    return result;
  }
  std::shared_ptr<const void> hold = Pin(key, FolderBytes(folder));
  if (result.outcome == v1::OUTCOME_PASSED) {
    std::optional<BuildResult> stored = ReadEntry(folder);
    if (!stored.has_value()) return result;
    // Another process's entry may hold another object; report the one that is used.
    result.report.set_artifact_sha256(stored->report.artifact_sha256());
    result.report.set_artifact_bytes(stored->report.artifact_bytes());
    result.artifact_path = stored->artifact_path;
    result.loading = std::move(stored->loading);
    result.artifact_hold = std::move(hold);
  }
  return result;
}

std::shared_ptr<const void> BuildCache::Pin(const std::string& key, int64_t bytes) {
  MutexLock lock(&mu_);
  Entry& entry = entries_[key];
  entry.bytes = bytes;
  entry.last_use = ++uses_;
  std::shared_ptr<const void> hold = entry.hold.lock();
  if (hold == nullptr) {
    hold = std::make_shared<std::string>(key);
    entry.hold = hold;
  }
  return hold;
}

void BuildCache::DropOldEntries() {
  MutexLock lock(&mu_);
  int64_t total = 0;
  std::vector<std::pair<int64_t, std::string>> droppable;  // by last use
  for (const auto& [key, entry] : entries_) {
    total += entry.bytes;
    if (entry.hold.expired() && !building_.contains(key))
      droppable.emplace_back(entry.last_use, key);
  }
  std::sort(droppable.begin(), droppable.end());
  for (const auto& [last_use, key] : droppable) {
    if (total <= max_bytes_) return;
    total -= entries_[key].bytes;
    entries_.erase(key);
    // Under the lock: a Find of the same key must see all of it or nothing.
    std::error_code ignored;
    fs::remove_all(EntryFolder(key), ignored);
  }
}

}  // namespace ksearch
