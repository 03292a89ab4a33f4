#include "gpu_worker/verifier/warm/warm_folders.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/folder_digest.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/program_image.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

// A file beside the folder of a kept entry: SHA-256, program, and one workload per line.
constexpr char kRecordSuffix[] = ".kept";
constexpr int64_t kMaxRecordBytes = int64_t{1} << 20;

std::string NameOf(const std::string& program, const std::set<std::string>& workloads) {
  CanonicalBytes bytes;
  bytes.Add("warm 1").Add(program);
  for (const std::string& workload : workloads) bytes.Add(workload);
  return bytes.Sha256();
}

int64_t FolderBytes(const std::string& folder) {
  int64_t total = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    const auto size = at->is_regular_file(ignored) ? at->file_size(ignored) : 0;
    if (!ignored) total += static_cast<int64_t>(size);
  }
  return total;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WarmFolders>> WarmFolders::Create(const std::string& folder,
                                                                 int64_t max_bytes) {
  std::error_code error;
  const std::string absolute = fs::absolute(folder, error).lexically_normal().string();
  if (!error) fs::create_directories(absolute, error);
  if (error || ::access(absolute.c_str(), W_OK) != 0) {
    return absl::UnavailableError(absl::StrCat(absolute, " is not writable"));
  }
  std::unique_ptr<WarmFolders> folders(new WarmFolders(absolute, max_bytes));
  folders->ReadKept();
  folders->DropOld();
  return folders;
}

void WarmFolders::ReadKept() {
  std::error_code error;
  std::vector<fs::path> left;
  std::vector<std::pair<fs::file_time_type, Kept>> found;
  for (const auto& one : fs::directory_iterator(folder_, error)) left.push_back(one.path());
  for (const fs::path& path : left) {
    if (path.extension() == kRecordSuffix) continue;
    const std::string record_path = path.string() + kRecordSuffix;
    const auto record = ReadFile(record_path, kMaxRecordBytes);
    std::vector<std::string> lines;
    if (record.ok()) lines = absl::StrSplit(*record, '\n');
    if (lines.size() < 2 || !IsSha256Hex(lines[0])) {
      Remove(path);  // incomplete
      continue;
    }
    Kept kept;
    kept.entry = {path, lines[0]};
    kept.program = lines[1];
    kept.workloads.insert(lines.begin() + 2, lines.end());
    kept.bytes = FolderBytes(path);
    std::error_code ignored;
    found.emplace_back(fs::last_write_time(record_path, ignored), std::move(kept));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [used, kept] : found) {
    kept.last_use = ++uses_;
    kept_.push_back(std::move(kept));
  }
}

std::optional<WarmFolders::Entry> WarmFolders::Find(const std::string& program,
                                                    const std::set<std::string>& workloads) {
  for (Kept& kept : kept_) {
    if (kept.program != program || !std::includes(kept.workloads.begin(), kept.workloads.end(),
                                                  workloads.begin(), workloads.end())) {
      continue;
    }
    kept.last_use = ++uses_;
    std::error_code ignored;  // touches the file, so that the next process knows when it was used
    fs::last_write_time(kept.entry.path + kRecordSuffix, fs::file_time_type::clock::now(), ignored);
    in_use_.insert(kept.entry.path);
    return kept.entry;
  }
  return std::nullopt;
}

absl::StatusOr<WarmFolders::Entry> WarmFolders::Make(const std::string& program,
                                                     const std::set<std::string>& workloads,
                                                     const std::string& program_folder,
                                                     const std::vector<std::string>& compiled) {
  Kept made;
  made.entry.path = absl::StrCat(folder_, "/", NameOf(program, workloads));
  made.program = program;
  made.workloads = workloads;
  Remove(made.entry.path);
  std::error_code error;
  fs::create_directories(made.entry.path, error);
  if (!error) {
    fs::copy(program_folder, made.entry.program(), fs::copy_options::recursive, error);
  }
  for (const std::string& name : compiled) {
    if (!error) fs::create_directories(absl::StrCat(made.entry.compiled(), "/", name), error);
  }
  if (error) {
    return absl::UnavailableError(absl::StrCat("make ", made.entry.path, ": ", error.message()));
  }
  ASSIGN_OR_RETURN(made.entry.sha256, FolderSha256(made.entry.path, ProgramImage::kMaxBytes));
  in_use_.insert(made.entry.path);
  made_ = made;
  return made.entry;
}

absl::Status WarmFolders::Keep(Entry* entry) {
  CHECK(made_.has_value() && made_->entry.path == entry->path);
  Kept kept = *std::exchange(made_, std::nullopt);
  ASSIGN_OR_RETURN(kept.entry.sha256, FolderSha256(entry->path, ProgramImage::kMaxBytes));
  entry->sha256 = kept.entry.sha256;
  kept.bytes = FolderBytes(entry->path);
  kept.last_use = ++uses_;
  RETURN_IF_ERROR(WriteFileAtomically(
      entry->path + kRecordSuffix,
      absl::StrCat(kept.entry.sha256, "\n", kept.program, kept.workloads.empty() ? "" : "\n",
                   absl::StrJoin(kept.workloads, "\n"))));
  kept_.push_back(std::move(kept));
  DropOld();
  return absl::OkStatus();
}

void WarmFolders::DropOld() {
  int64_t total = 0;
  for (const Kept& kept : kept_) total += kept.bytes;
  std::sort(kept_.begin(), kept_.end(),
            [](const Kept& a, const Kept& b) { return a.last_use < b.last_use; });
  std::vector<std::string> old;
  for (const Kept& kept : kept_) {
    if (total <= max_bytes_) break;
    if (in_use_.count(kept.entry.path) > 0) continue;
    total -= kept.bytes;
    old.push_back(kept.entry.path);
  }
  for (const std::string& path : old) Remove(path);
}

void WarmFolders::Remove(std::string path) {
  std::error_code ignored;
  // Removes the record first, because a folder without one counts as incomplete.
  fs::remove(path + kRecordSuffix, ignored);
  fs::remove_all(path, ignored);
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(),
                             [&path](const Kept& kept) { return kept.entry.path == path; }),
              kept_.end());
}

}  // namespace ksearch
