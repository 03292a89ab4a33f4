#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_HUNK_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_HUNK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// One change of a patch: lines to find and the lines that take their place, without line ends.
struct Hunk {
  std::string path;  // as written; empty: not said
  std::vector<std::string> before;
  std::vector<std::string> after;
  int line = 0;  // where `before` was said to begin, from 1; 0: not said
  bool deletes_file = false;
};

// Most changes that are read of one reply.
inline constexpr size_t kMaxHunks = 500;

// The blocks <<<<<<< SEARCH, =======, >>>>>>> REPLACE of a text, in order; a path comes from the
// <patch path="..."> around a block or from a line before it that is one of `paths`.
// INVALID_ARGUMENT: a block is not closed, or there are too many.
absl::StatusOr<std::vector<Hunk>> SearchReplaceHunks(absl::string_view text,
                                                     const std::vector<std::string>& paths);

// The hunks of the unified diffs of a text (a header of --- and +++ and parts that begin with @@),
// in order, fenced or not. INVALID_ARGUMENT: there are too many.
absl::StatusOr<std::vector<Hunk>> UnifiedDiffHunks(absl::string_view text);

// Puts hunks into the text of one file, one after another. Lines are looked for exactly, then
// without regard to white space at their ends, then without regard to indentation (what is put in
// is indented alike), then, of hunks that say a line, without the outermost lines that stay. Of
// several places the nearest to that line is taken.
class HunkMatcher {
 public:
  explicit HunkMatcher(absl::string_view file);

  // FAILED_PRECONDITION: the lines are not there, or are there more than once; the message shows
  // them and what comes nearest. RESOURCE_EXHAUSTED: it takes too long.
  absl::Status Apply(const Hunk& hunk);
  std::string Text() const;

 private:
  enum class Rule { kExact, kTrailing, kIndentation };
  // Where `lines` are, under this rule.
  absl::StatusOr<std::vector<size_t>> Places(const std::vector<std::string>& lines, Rule rule);
  void Replace(size_t at, const std::vector<std::string>& before,
               const std::vector<std::string>& after, Rule rule);
  absl::Status Misfit(const std::vector<std::string>& before, size_t places) const;

  std::vector<std::string> lines_;
  int64_t moved_ = 0;  // lines that earlier hunks added, so far
  int64_t work_left_;  // comparisons of lines
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_HUNK_H_
