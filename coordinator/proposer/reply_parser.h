#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_PARSER_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_PARSER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/program_limits.h"
#include "proto/task.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// The largest reply that is accepted; a longer one is an error, not truncated.
inline constexpr int64_t kMaxReplyBytes = 4 << 20;

// Finds the program in a code reply: <file path="...">...</file> blocks (fences inside them are
// allowed); otherwise named fences; otherwise (in a language with one main file) fences that begin
// with a comment that names their file, if there are several with different names; otherwise the
// only fenced block (named kernel.cpp, kernel.cu or kernel.py); otherwise the whole text if it
// looks like code. Line ends become newlines, and every file ends with exactly one. If the path of
// a block or named fence repeats, the last one wins. A copy of the generated header is dropped.
// INVALID_ARGUMENT says exactly what is missing, in words for the model. `form_beginnings`: lines
// that begin with one of these define an entry, too.
absl::StatusOr<v1::Sources> ParseCodeReply(absl::string_view reply, v1::Language language,
                                           const std::vector<std::string>& form_beginnings = {});

// Returns how lines begin that identify a program in one of the task's forms (v1::ProgramForm).
std::vector<std::string> FormBeginnings(const v1::Task& task, v1::Language language);

// Parts of ParseCodeReply for ParsePatchReply: the <file> blocks of a text and the rest of it; and
// the checks of a program whose files are as ParseCodeReply returns them.
absl::StatusOr<std::vector<v1::SourceFile>> FileBlocksIn(absl::string_view text, std::string* rest);
absl::StatusOr<v1::Sources> CheckedSources(const v1::Sources& sources,
                                           const std::vector<std::string>& form_beginnings);

// Returns the program that a reply makes from `base`, which may have several files: changes as
// SEARCH/REPLACE blocks or as a unified diff (reply/hunk.h describes the matching), whole files as
// <file> blocks, or both; otherwise the whole program as ParseCodeReply finds it. INVALID_ARGUMENT
// as there; FAILED_PRECONDITION: a change does not fit `base`, and the message, of at most 4 KiB,
// shows it; RESOURCE_EXHAUSTED: matching takes too long.
absl::StatusOr<v1::Sources> ParsePatchReply(absl::string_view reply, const v1::Sources& base,
                                            const std::vector<std::string>& form_beginnings = {});

// Writes the <file> blocks that ParseCodeReply reads.
std::string RenderSources(const v1::Sources& sources);

// Parses the list in a reply to BuildNotePrompt: lines that begin with "- ", "* ", a bullet or a
// number; the lines that follow belong to the point before them. Returns at most `wanted` points of
// one line and at most 600 bytes each. INVALID_ARGUMENT: there is none.
absl::StatusOr<std::vector<std::string>> ParsePointsReply(absl::string_view reply, int wanted);

struct EditReplyOptions {
  // Tolerates faults as the published system does: a number out of range moves to the nearest
  // bound, a field of the wrong kind counts as absent, a missing field is no fault, and an unknown
  // op becomes an unset one (to be skipped and counted). If false, each of these is a fault.
  bool clamp = false;
};

// Finds the edit script in a world-model reply: the last JSON object anywhere in the text with the
// expected keys ("ops", or "nodes"/"decision_tree"/"kernel_summary" for an initial model). The
// nodes of an initial model become InsertNode ops, parents first; its root, if it has notes,
// becomes an InsertNode of "root" with only these. Every fault is listed as
// "ops[2].node.action.score_0_to_1: must be a number in [0, 1]"; INVALID_ARGUMENT has one line for
// each, at most 40. JSON format: docs/world_model_edits.md.
absl::StatusOr<v1::EditScript> ParseEditReply(absl::string_view reply,
                                              const EditReplyOptions& options = {});

// Writes the JSON that ParseEditReply reads. A script that it returned is reproduced exactly.
std::string RenderEditScript(const v1::EditScript& script);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_PARSER_H_
