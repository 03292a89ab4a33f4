#include "gpu_worker/build/source_check.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/kernel_header.h"
#include "common/language.h"
#include "common/measure_defaults.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr size_t kMaxPathBytes = 200;

bool EndsWithAny(absl::string_view path, const std::vector<absl::string_view>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [path](absl::string_view ending) { return absl::EndsWith(path, ending); });
}

absl::Status Refuse(absl::string_view path, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("file '", path.substr(0, kMaxPathBytes), "': ", reason));
}

absl::Status CheckPath(absl::string_view path) {
  if (path.empty()) return absl::InvalidArgumentError("a file has an empty path");
  if (path.size() > kMaxPathBytes) {
    return Refuse(path, absl::StrCat("its path is longer than ", kMaxPathBytes, " characters"));
  }
  for (const char c : path) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '/' &&
        c != '-') {
      return absl::InvalidArgumentError(
          absl::StrCat("file '", absl::Utf8SafeCHexEscape(path),
                       "': its path holds a character other than letters, digits and _ . / -; "
                       "rename it"));
    }
  }
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty()) return Refuse(path, "the path must be relative, without empty parts");
    // A leading dash would be read as a flag; a leading dot covers "..", "." and hidden files.
    if (part[0] == '.' || part[0] == '-') {
      return Refuse(path, "no part of a path may begin with '.' or '-'");
    }
  }
  if (path == kKernelHeaderName || path == kCudaHeaderName) {
    return Refuse(path, "the name is reserved for a header that is provided; only include it");
  }
  return absl::OkStatus();
}

}  // namespace

const SourceRules& CppSourceRules() {
  static const auto* const rules =
      new SourceRules{{".cpp", ".cc"}, {".h", ".hpp", ".hh", ".inc", ".inl"}};
  return *rules;
}

const SourceRules& CudaSourceRules() {
  static const auto* const rules =
      new SourceRules{{".cu", ".cpp", ".cc"}, {".cuh", ".h", ".hpp", ".hh", ".inc", ".inl"}};
  return *rules;
}

const SourceRules& PythonSourceRules() {
  // Files that a program builds or reads itself may be beside it.
  static const auto* const rules =
      new SourceRules{{".py"},
                      {".cu", ".cpp", ".cc", ".cxx", ".c", ".cuh", ".h", ".hpp", ".hh", ".inc",
                       ".inl", ".ptx", ".json", ".txt", ".md"}};
  return *rules;
}

absl::Status CheckSources(const v1::Sources& sources, const v1::Limits& limits,
                          const SourceRules& rules) {
  if (sources.files().empty()) return absl::InvalidArgumentError("there is no source file");
  if (sources.files_size() > kMaxSourceFiles) {
    return absl::InvalidArgumentError(
        absl::StrCat(sources.files_size(), " files; at most ", kMaxSourceFiles, " are allowed"));
  }
  const int64_t limit = limits.source_bytes() > 0 ? limits.source_bytes() : kDefaultSourceBytes;
  int64_t total = 0;
  std::set<std::string> paths, folders;
  for (const v1::SourceFile& file : sources.files()) {
    RETURN_IF_ERROR(CheckPath(file.path()));
    if (!EndsWithAny(file.path(), rules.compiled) && !EndsWithAny(file.path(), rules.included)) {
      return Refuse(file.path(), absl::StrCat("unknown ending in a program in ",
                                              LanguageName(sources.language()),
                                              "; known: ", absl::StrJoin(rules.compiled, " "), " ",
                                              absl::StrJoin(rules.included, " ")));
    }
    if (!paths.insert(file.path()).second) return Refuse(file.path(), "given twice");
    for (size_t slash = file.path().find('/'); slash != std::string::npos;
         slash = file.path().find('/', slash + 1)) {
      folders.insert(file.path().substr(0, slash));
    }
    if (file.content().find('\0') != std::string::npos)
      return Refuse(file.path(), "has a NUL byte");
    total += static_cast<int64_t>(file.content().size());
  }
  for (const std::string& path : paths) {
    if (folders.count(path) > 0) return Refuse(path, "is both a file and a folder");
  }
  if (total > limit) {
    return absl::InvalidArgumentError(
        absl::StrCat("the sources have ", total, " bytes; at most ", limit, " are allowed"));
  }
  if (CompiledPaths(sources, rules).empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no file to compile: at least one must end in ",
                                                   absl::StrJoin(rules.compiled, " or ")));
  }
  return absl::OkStatus();
}

std::vector<std::string> CompiledPaths(const v1::Sources& sources, const SourceRules& rules) {
  std::vector<std::string> paths;
  for (const v1::SourceFile& file : sources.files()) {
    if (EndsWithAny(file.path(), rules.compiled)) paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace ksearch
