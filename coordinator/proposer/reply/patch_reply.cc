// ParsePatchReply: from a model's text and a program to the changed program.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "coordinator/proposer/reply/hunk.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

constexpr size_t kMaxMessage = 4 << 10;

using Files = std::map<std::string, std::string>;

absl::string_view BaseName(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

// The file that a patch's path refers to; the path itself if it is a new file.
absl::StatusOr<std::string> Meant(std::string written, const Files& files) {
  if (written.empty()) {
    if (files.size() == 1) return files.begin()->first;
    return absl::InvalidArgumentError(
        "a change does not say which of the program's files it is for");
  }
  absl::string_view path = written;
  while (absl::ConsumePrefix(&path, "./")) {
  }
  if (files.count(std::string(path)) > 0) return std::string(path);
  absl::string_view bare = path;
  if (absl::ConsumePrefix(&bare, "a/") || absl::ConsumePrefix(&bare, "b/")) {
    if (files.count(std::string(bare)) > 0) return std::string(bare);
  }
  std::vector<std::string> alike;
  for (const auto& [known, content] : files) {
    if (BaseName(known) == BaseName(path)) alike.push_back(known);
  }
  return alike.size() == 1 ? alike[0] : std::string(bare);
}

absl::Status Named(const absl::Status& status, size_t number, size_t count,
                   absl::string_view path) {
  return absl::Status(status.code(),
                      Shortened(absl::StrCat("change ", number, " of ", count, " does not fit ",
                                             SafeLine(path, 120), ": ", status.message()),
                                kMaxMessage, Keep::kHead));
}

}  // namespace

absl::StatusOr<v1::Sources> ParsePatchReply(absl::string_view reply, const v1::Sources& base,
                                            const std::vector<std::string>& form_beginnings) {
  if (static_cast<int64_t>(reply.size()) > kMaxReplyBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reply has ", reply.size(), " bytes; at most ", kMaxReplyBytes, " are read"));
  }
  const std::string text = absl::StrReplaceAll(reply, {{"\r\n", "\n"}, {"\r", "\n"}});
  Files files;
  std::vector<std::string> paths;
  for (const v1::SourceFile& file : base.files()) {
    files[file.path()] = file.content();
    paths.push_back(file.path());
  }
  // Whole files first: their content must not be read as a patch.
  std::string rest;
  ASSIGN_OR_RETURN(const std::vector<v1::SourceFile> whole, FileBlocksIn(text, &rest));
  ASSIGN_OR_RETURN(std::vector<Hunk> hunks, SearchReplaceHunks(rest, paths));
  if (hunks.empty()) {
    ASSIGN_OR_RETURN(hunks, UnifiedDiffHunks(rest));
  }
  if (hunks.empty()) {
    if (whole.empty()) return ParseCodeReply(text, base.language(), form_beginnings);
    // The reply may be the whole program, or only some of its files.
    absl::StatusOr<v1::Sources> complete = ParseCodeReply(text, base.language(), form_beginnings);
    if (complete.ok() && complete->files_size() >= base.files_size()) return complete;
  }
  for (const v1::SourceFile& file : whole) {
    ASSIGN_OR_RETURN(const std::string path, Meant(file.path(), files));
    files[path] = file.content();
  }
  std::map<std::string, HunkMatcher> matchers;
  bool changed = false;
  for (size_t i = 0; i < hunks.size(); ++i) {
    ASSIGN_OR_RETURN(const std::string path, Meant(hunks[i].path, files));
    if (hunks[i].deletes_file) {
      changed = files.erase(path) > 0 || changed;
      matchers.erase(path);
      continue;
    }
    auto matcher = matchers.find(path);
    if (matcher == matchers.end()) {
      matcher = matchers.emplace(path, HunkMatcher(files[path])).first;
    }
    if (absl::Status status = matcher->second.Apply(hunks[i]); !status.ok()) {
      return Named(status, i + 1, hunks.size(), path);
    }
  }
  for (const auto& [path, matcher] : matchers) files[path] = matcher.Text();
  v1::Sources patched;
  patched.set_language(base.language());
  // In the program's order, then new files.
  for (const std::string& path : paths) {
    if (files.count(path) == 0) continue;
    v1::SourceFile* file = patched.add_files();
    file->set_path(path);
    file->set_content(files[path]);
    files.erase(path);
  }
  for (const auto& [path, content] : files) {
    v1::SourceFile* file = patched.add_files();
    file->set_path(path);
    file->set_content(content);
  }
  ASSIGN_OR_RETURN(v1::Sources sources, CheckedSources(patched, form_beginnings));
  for (const v1::SourceFile& file : sources.files()) {
    changed =
        changed ||
        std::none_of(base.files().begin(), base.files().end(), [&](const v1::SourceFile& known) {
          return known.path() == file.path() && known.content() == file.content();
        });
  }
  if (!changed) return absl::InvalidArgumentError("the changes leave the program as it was");
  return sources;
}

}  // namespace ksearch
