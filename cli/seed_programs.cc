#include "cli/seed_programs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/result_record.h"
#include "cli/source_files.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "google/protobuf/struct.pb.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kRun = "run:";
constexpr size_t kMaxOrigin = 200;

bool HasEnding(const std::string& path, const std::vector<absl::string_view>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](absl::string_view ending) { return absl::EndsWith(path, ending); });
}

bool IsMainFile(const std::string& path) {
  return std::any_of(Languages().begin(), Languages().end(), [&](const LanguageFacts& language) {
    return HasEnding(path, language.main_extensions);
  });
}

bool IsSourceFile(const std::string& path) {
  return IsMainFile(path) ||
         std::any_of(Languages().begin(), Languages().end(), [&](const LanguageFacts& language) {
           return HasEnding(path, language.more_extensions);
         });
}

absl::Status Fault(const std::string& value, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(value, ": ", what));
}

// OK if the folder has no record, or one that names no task.
absl::Status CheckRecord(const std::string& folder, const std::string& task) {
  if (task.empty() || !HasResultRecord(folder)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const google::protobuf::Struct record, ReadResultRecord(folder));
  const auto field = record.fields().find("task");
  if (field == record.fields().end() || field->second.string_value() == task) {
    return absl::OkStatus();
  }
  return Fault(folder, absl::StrCat("its program is for task ", field->second.string_value(),
                                    ", not for ", task));
}

absl::StatusOr<std::vector<std::string>> FilesOfFolder(const std::string& folder) {
  std::error_code error;
  const bool is_result = HasResultRecord(folder);
  std::vector<std::string> paths;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    const fs::path& path = entry->path();
    if (!entry->is_regular_file(unknown) || !IsSourceFile(path.filename().string())) continue;
    if (is_result && path.stem() != "kernel") continue;
    paths.push_back(path.string());
  }
  if (error) return Fault(folder, absl::StrCat("cannot be read: ", error.message()));
  if (std::none_of(paths.begin(), paths.end(), IsMainFile)) {
    return Fault(folder, "the folder has no program");
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::StatusOr<std::vector<v1::SeedProgram>> ReadPrograms(const std::vector<std::string>& values,
                                                          const std::string& task,
                                                          const ReadBest& best_of) {
  std::vector<v1::SeedProgram> seeds;
  std::vector<std::string> open;  // paths of the program whose headers may follow
  const auto close = [&]() -> absl::Status {
    if (open.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<v1::SourceFile> files, ReadSourceFiles(open));
    v1::SeedProgram& seed = seeds.emplace_back();
    seed.set_origin(open.front());
    seed.mutable_files()->Add(files.begin(), files.end());
    open.clear();
    return absl::OkStatus();
  };
  for (const std::string& value : values) {
    absl::string_view run = value;
    std::error_code error;
    if (absl::ConsumePrefix(&run, kRun)) {
      RETURN_IF_ERROR(close());
      const absl::StatusOr<v1::BestReply> best = best_of(std::string(run));
      if (!best.ok()) {
        return absl::Status(best.status().code(),
                            absl::StrCat(value, ": ", best.status().message()));
      }
      if (!task.empty() && best->task() != task) {
        return Fault(value,
                     absl::StrCat("its program is for task ", best->task(), ", not for ", task));
      }
      v1::SeedProgram& seed = seeds.emplace_back();
      seed.set_origin(value);
      *seed.mutable_files() = best->sources().files();
    } else if (fs::is_directory(value, error)) {
      RETURN_IF_ERROR(close());
      RETURN_IF_ERROR(CheckRecord(value, task));
      ASSIGN_OR_RETURN(open, FilesOfFolder(value));
      RETURN_IF_ERROR(close());
    } else {
      const bool belongs = !open.empty() && !IsMainFile(value) && IsSourceFile(value);
      if (!belongs) RETURN_IF_ERROR(close());
      open.push_back(value);
    }
  }
  RETURN_IF_ERROR(close());
  for (v1::SeedProgram& seed : seeds) {
    if (seed.origin().size() > kMaxOrigin) seed.clear_origin();  // only people read it
  }
  return seeds;
}

}  // namespace

absl::StatusOr<std::vector<v1::SeedProgram>> ReadSeedPrograms(
    const std::vector<std::string>& values, const std::string& task, const ReadBest& best_of,
    const std::string& given_as) {
  auto seeds = ReadPrograms(values, task, best_of);
  if (seeds.ok()) return seeds;
  return absl::Status(seeds.status().code(), absl::StrCat(given_as, " ", seeds.status().message()));
}

void SetSeedPrograms(const std::vector<v1::SeedProgram>& seeds, v1::RunConfig* config) {
  config->clear_seed_solution();
  config->clear_seeds();
  for (const v1::SeedProgram& seed : seeds) {
    if (config->seed_solution_size() == 0) {
      *config->mutable_seed_solution() = seed.files();
    } else {
      *config->add_seeds() = seed;
    }
  }
}

}  // namespace ksearch
