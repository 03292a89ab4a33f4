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

// Largest reply looked at; the rest is an error, not cut.
inline constexpr int64_t kMaxReplyBytes = 4 << 20;

// Finds the program in a code reply: <file path="...">...</file> blocks (fences inside them
// allowed), else named fences, else (in a language with one main file) fences that begin with a
// comment that names their file, if there are several of different names, else the one fenced block
// (named kernel.cpp, kernel.cu or kernel.py), else the whole text if it looks like code. Line ends
// become \n, every file ends with exactly one; a repeated path of blocks or named fences: the last
// wins; the generated header, if sent back, is left out.
// INVALID_ARGUMENT says exactly what was missing, in words for the model.
// `form_beginnings`: lines that begin so define an entry, too.
absl::StatusOr<v1::Sources> ParseCodeReply(absl::string_view reply, v1::Language language,
                                           const std::vector<std::string>& form_beginnings = {});

// How lines begin that tell a program in one of the task's forms (v1::ProgramForm).
std::vector<std::string> FormBeginnings(const v1::Task& task, v1::Language language);

// Its parts, for ParsePatchReply: the <file> blocks of a text and what is left without them; and
// the checks of a program, with its files as ParseCodeReply returns them.
absl::StatusOr<std::vector<v1::SourceFile>> FileBlocksIn(absl::string_view text, std::string* rest);
absl::StatusOr<v1::Sources> CheckedSources(const v1::Sources& sources,
                                           const std::vector<std::string>& form_beginnings);

// The program that a reply makes of `base`, across several files: changes as blocks of SEARCH and
// REPLACE or as a unified diff (reply/hunk.h says how they are matched), whole files as <file>
// blocks, or both; else the whole program as ParseCodeReply finds it. INVALID_ARGUMENT as there;
// FAILED_PRECONDITION: a change does not fit `base`, and the message, of at most 4 KiB, shows it;
// RESOURCE_EXHAUSTED: it is too long to be looked for.
absl::StatusOr<v1::Sources> ParsePatchReply(absl::string_view reply, const v1::Sources& base,
                                            const std::vector<std::string>& form_beginnings = {});

// The <file> blocks ParseCodeReply reads.
std::string RenderSources(const v1::Sources& sources);

// Finds the list in a reply to BuildNotePrompt: lines that begin with "- ", "* ", a bullet or a
// number; lines that follow belong to the point before them. At most `wanted` points, each one line
// of at most 600 bytes. INVALID_ARGUMENT: there is none.
absl::StatusOr<std::vector<std::string>> ParsePointsReply(absl::string_view reply, int wanted);

struct EditReplyOptions {
  // As the published system does: a number out of range moves to the nearest bound, a field of the
  // wrong kind counts as absent, a missing field is no fault, an unknown op becomes one that is not
  // set (to be skipped and counted). Off: each is a fault.
  bool clamp = false;
};

// Finds the edit script in a world-model reply: the last JSON object anywhere in the text that has
// the expected keys ("ops", or "nodes"/"decision_tree"/"kernel_summary" for an initial model). The
// nodes of an initial model become InsertNode ops, parents first; its root, if it has notes, an
// InsertNode of "root" that holds them alone. Every fault is listed as
// "ops[2].node.action.score_0_to_1: must be a number in [0, 1]". INVALID_ARGUMENT carries them, a
// line each, 40 at most. JSON shape: docs/world_model_edits.md.
absl::StatusOr<v1::EditScript> ParseEditReply(absl::string_view reply,
                                              const EditReplyOptions& options = {});

// The JSON ParseEditReply reads; for a script it returned, the same script comes back.
std::string RenderEditScript(const v1::EditScript& script);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_PARSER_H_
