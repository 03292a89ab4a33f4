#include "coordinator/suites/gpumode/gpumode_problem.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "coordinator/suites/gpumode/located_yaml.h"
#include "coordinator/suites/lfs_pointer.h"
#include "coordinator/suites/lies_below.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using Kind = LocatedJson::Kind;

constexpr char kSubmission[] = "@SUBMISSION@";
constexpr size_t kMaxFiles = 16;
constexpr size_t kMaxCases = 200;
constexpr int64_t kMaxFileBytes = 256 << 10;
constexpr int64_t kMaxNameBytes = 100;
constexpr int64_t kMaxTextBytes = 64 << 10;
// The function that evaluators call to clear the device's cache.
constexpr char kClearsCache[] = "clear_l2_cache";
// Occurs in the pattern of evaluators that accept lists.
constexpr char kReadsLists[] = R"(\[[^\]]*\])";
// Limit for a whole number given as an argument.
constexpr int64_t kMaxArgument = int64_t{1} << 40;
// A problem's file may not have this name, which ksearch uses for its own part.
constexpr char kOwnFile[] = "kernel.py";

bool IsArgument(const LocatedJson& value, bool in_list) {
  switch (value.kind) {
    case Kind::kInteger:
      return value.integer <= kMaxArgument && value.integer >= -kMaxArgument;
    case Kind::kBool:
    case Kind::kFloat:
      return true;
    case Kind::kNull:
      return !in_list;
    case Kind::kString:
      return static_cast<int64_t>(value.text.size()) <= kMaxNameBytes;
    case Kind::kArray:
      return !in_list && value.items.size() <= kMaxCases &&
             std::all_of(value.items.begin(), value.items.end(),
                         [](const LocatedJson& item) { return IsArgument(item, true); });
    case Kind::kObject:
      return false;
  }
  return false;
}

// The arguments as text, without the seed: equal for cases that differ in their seeds only.
std::string WithoutSeed(const LocatedJson& arguments) {
  LocatedJson rest = arguments;
  rest.members.erase(std::remove_if(rest.members.begin(), rest.members.end(),
                                    [](const auto& each) { return each.name == "seed"; }),
                     rest.members.end());
  return WriteJson(rest, -1);
}

class Reader {
 public:
  Reader(fs::path folder, fs::path root)
      : folder_(std::move(folder)),
        root_(std::move(root)),
        name_((folder_ / kGpuModeTaskFile).string()) {}

  absl::StatusOr<GpuModeProblem> Read() {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(name_, kMaxYamlBytes));
    RETURN_IF_ERROR(CheckIsNoLfsPointer(name_, text));
    ASSIGN_OR_RETURN(const LocatedJson task, ParseLocatedYaml(text, name_));
    const JsonFields fields(name_, task, "");
    RETURN_IF_ERROR(fields.CheckObject());
    ASSIGN_OR_RETURN(const std::string language, fields.RequiredText("lang", kMaxNameBytes));
    if (language != "py") {
      return fields.Error(
          "lang",
          absl::StrCat("\"", language, "\": only problems in Python (\"py\") are run here"));
    }
    if (const LocatedJson* several = task.Find("multi_gpu");
        several != nullptr && (several->kind != Kind::kBool || several->boolean)) {
      return fields.Error("multi_gpu", "problems for several GPUs are not supported");
    }
    GpuModeProblem problem;
    ASSIGN_OR_RETURN(problem.description, fields.OptionalText("description", kMaxTextBytes));
    ASSIGN_OR_RETURN(problem.ranking, ReadRanking(fields));
    RETURN_IF_ERROR(ReadFiles(fields, &problem));
    RETURN_IF_ERROR(ReadCases(task, fields, "tests", &problem));
    RETURN_IF_ERROR(ReadCases(task, fields, "benchmarks", &problem));
    LeaveOutRepeated(&problem);
    if (problem.cases.empty()) return fields.Error("benchmarks", "there is no case");
    return problem;
  }

 private:
  static absl::StatusOr<GpuModeRanking> ReadRanking(const JsonFields& fields) {
    ASSIGN_OR_RETURN(const std::string name, fields.OptionalText("ranking_by", kMaxNameBytes));
    if (name.empty() || name == "last") return GpuModeRanking::kLast;
    if (name == "mean") return GpuModeRanking::kMean;
    if (name == "geom") return GpuModeRanking::kGeometricMean;
    return fields.Error("ranking_by", absl::StrCat("'", name, "' is not last, mean or geom"));
  }

  // A file of the suite; empty if it is not there.
  std::string TextOf(const fs::path& source) const {
    std::error_code error;
    const fs::path path = fs::weakly_canonical(source, error);
    if (error || !LiesBelow(path, root_)) return "";
    return ReadFile(path.string(), kMaxFileBytes).value_or("");
  }

  absl::Status ReadFiles(const JsonFields& fields, GpuModeProblem* problem) {
    ASSIGN_OR_RETURN(const LocatedJson* list, fields.Required("files", Kind::kArray));
    if (list->items.size() > kMaxFiles) return fields.Error("files", "has more than 16 entries");
    for (size_t i = 0; i < list->items.size(); ++i) {
      const JsonFields entry(name_, list->items[i], absl::StrCat("files[", i, "]"));
      RETURN_IF_ERROR(entry.CheckObject());
      ASSIGN_OR_RETURN(const std::string file, entry.RequiredText("name", kMaxNameBytes));
      ASSIGN_OR_RETURN(const std::string source, entry.RequiredText("source", kMaxNameBytes));
      // Upstream's own harness is not run; only its ways of timing and of reading cases are read.
      if (source == kSubmission) continue;
      if (absl::StartsWith(file, "eval")) {
        std::string evaluator = TextOf(folder_ / source);
        problem->clears_cache |= absl::StrContains(evaluator, kClearsCache);
        problem->reads_lists |= absl::StrContains(evaluator, kReadsLists);
        if (file == kGpuModeEvaluatorFile && ValidUtf8Bytes(evaluator) == evaluator.size()) {
          problem->evaluator = std::move(evaluator);
        }
        continue;
      }
      if (!IsTaskName(file) || !absl::EndsWith(file, ".py") || file == kOwnFile) {
        return entry.Error("name",
                           absl::StrCat("'", file, "' must be the name of a file in Python (.py) ",
                                        "without folders, other than ", kOwnFile));
      }
      if (problem->FindFile(file) != nullptr) {
        return entry.Error("name", absl::StrCat("'", file, "' is the name of an earlier file"));
      }
      std::error_code error;
      const fs::path path = fs::weakly_canonical(folder_ / source, error);
      if (error || !absl::EndsWith(source, ".py") || !LiesBelow(path, root_)) {
        return entry.Error("source", absl::StrCat("'", source, "' is not a file in Python below ",
                                                  root_.string()));
      }
      absl::StatusOr<std::string> text = ReadFile(path.string(), kMaxFileBytes);
      if (!text.ok()) return entry.Error("source", text.status().message());
      if (const absl::Status whole = CheckIsNoLfsPointer(path.string(), *text); !whole.ok()) {
        return entry.Error("source", whole.message());
      }
      if (const size_t good = ValidSourceBytes(*text); good < text->size()) {
        return entry.Error(
            "source", absl::StrCat(path.string(), " is not source text in UTF-8: see byte ", good,
                                   " of ", text->size()));
      }
      v1::SourceFile& added = problem->files.emplace_back();
      added.set_path(file);
      added.set_content(*std::move(text));
    }
    if (problem->FindFile(kGpuModeReferenceFile) == nullptr) {
      return fields.Error("files", "there is no reference.py");
    }
    return absl::OkStatus();
  }

  absl::Status ReadCases(const LocatedJson& task, const JsonFields& fields,
                         const std::string& group, GpuModeProblem* problem) {
    const LocatedJson* const list = task.Find(group);
    if (list == nullptr || list->kind == Kind::kNull) return absl::OkStatus();
    if (list->kind != Kind::kArray) return fields.Error(group, "must be a list");
    if (list->items.size() > kMaxCases) return fields.Error(group, "has more than 200 entries");
    for (size_t i = 0; i < list->items.size(); ++i) {
      const LocatedJson& item = list->items[i];
      const JsonFields entry(name_, item, absl::StrCat(group, "[", i, "]"));
      RETURN_IF_ERROR(entry.CheckObject());
      for (const LocatedJson::Member& member : item.members) {
        if (!IsIdentifier(member.name) ||
            static_cast<int64_t>(member.name.size()) > kMaxNameBytes) {
          return entry.Error(member.name, "is not a name of an argument");
        }
        if (!IsArgument(member.value, false)) {
          return entry.Error(member.name,
                             "must be a number below 2^40, a truth value, a short text or a list");
        }
      }
      GpuModeCase added;
      added.benchmark = group == "benchmarks";
      added.uuid = absl::StrCat(added.benchmark ? "benchmark" : "test", i);
      added.arguments = item;
      problem->cases.push_back(std::move(added));
    }
    return absl::OkStatus();
  }

  // Every call has inputs of its own, so that another seed makes no other case.
  static void LeaveOutRepeated(GpuModeProblem* problem) {
    std::map<std::string, std::string> seen;
    std::set<std::string> tested;
    std::vector<GpuModeCase> kept;
    for (const bool benchmarks : {true, false}) {
      for (const GpuModeCase& each : problem->cases) {
        if (each.benchmark != benchmarks) continue;
        const auto [first, fresh] = seen.emplace(WithoutSeed(each.arguments), each.uuid);
        if (!fresh) {
          problem->left_out.push_back(
              absl::StrCat(each.uuid, ": is ", first->second, " with another seed"));
          if (!benchmarks) tested.insert(first->second);
        } else {
          kept.push_back(each);
        }
      }
    }
    std::stable_partition(kept.begin(), kept.end(),
                          [](const GpuModeCase& each) { return !each.benchmark; });
    problem->cases = std::move(kept);
    for (const GpuModeCase& each : problem->cases) {
      if (each.benchmark && tested.count(each.uuid) > 0) {
        problem->tested_benchmarks.push_back(each.uuid);
      }
    }
  }

  const fs::path folder_;
  const fs::path root_;
  const std::string name_;
};

}  // namespace

const v1::SourceFile* GpuModeProblem::FindFile(const std::string& path) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const v1::SourceFile& file) { return file.path() == path; });
  return found == files.end() ? nullptr : &*found;
}

absl::StatusOr<GpuModeProblem> ReadGpuModeProblem(const fs::path& folder, const fs::path& root) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(root, error);
  return Reader(folder, error ? root : whole).Read();
}

}  // namespace ksearch
