#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_HUNK_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_HUNK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// One change of a patch: the lines to find and their replacement, without line ends.
struct Hunk {
  std::string path;  // as written; empty if not given
  std::vector<std::string> before;
  std::vector<std::string> after;
  int line = 0;  // where `before` is said to begin, from 1; 0 if not given
  bool deletes_file = false;
};

// The maximum number of changes in one reply.
inline constexpr size_t kMaxHunks = 500;

// Parses the blocks <<<<<<< SEARCH, =======, >>>>>>> REPLACE of a text, in order. A path comes from
// the <patch path="..."> around a block, or from a line before it that is one of `paths`.
// INVALID_ARGUMENT: a block is not closed, or there are too many.
absl::StatusOr<std::vector<Hunk>> SearchReplaceHunks(absl::string_view text,
                                                     const std::vector<std::string>& paths);

// Parses the hunks of the unified diffs of a text (a header of --- and +++ and parts that begin
// with @@), in order, fenced or not. INVALID_ARGUMENT: there are too many.
absl::StatusOr<std::vector<Hunk>> UnifiedDiffHunks(absl::string_view text);

// Applies hunks to the text of one file, one after another. Lines are matched exactly, then without
// regard to white space at their ends, then without regard to indentation (the replacement is
// indented alike), and finally, for hunks that give a line number, without their outermost context
// lines. If several places match, the one nearest to that line is used.
class HunkMatcher {
 public:
  explicit HunkMatcher(absl::string_view file);

  // FAILED_PRECONDITION: the lines do not occur, or occur more than once; the message shows them
  // and the nearest match. RESOURCE_EXHAUSTED: matching takes too long.
  absl::Status Apply(const Hunk& hunk);
  std::string Text() const;

 private:
  enum class Rule { kExact, kTrailing, kIndentation };
  // Returns the places where `lines` match by this rule.
  absl::StatusOr<std::vector<size_t>> Places(const std::vector<std::string>& lines, Rule rule);
  void Replace(size_t at, const std::vector<std::string>& before,
               const std::vector<std::string>& after, Rule rule);
  absl::Status Misfit(const std::vector<std::string>& before, size_t places) const;

  std::vector<std::string> lines_;
  int64_t moved_ = 0;  // number of lines added by earlier hunks
  int64_t work_left_;  // remaining comparisons of lines
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_HUNK_H_
