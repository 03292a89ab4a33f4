#include "gpu_worker/build/cuda/nvcc_steps.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

constexpr absl::string_view kBegin = "set -e\n";

// The end of "NAME="; 0 if the line is not an assignment.
size_t NameLength(absl::string_view line) {
  size_t i = 0;
  while (i < line.size() &&
         (absl::ascii_isalnum(static_cast<unsigned char>(line[i])) || line[i] == '_')) {
    ++i;
  }
  return i < line.size() && line[i] == '=' ? i : 0;
}

// "\"$CICC_PATH/cicc\" ..." -> "cicc".
absl::string_view ProgramOf(absl::string_view command) {
  absl::string_view word = command.substr(0, command.find(' '));
  absl::ConsumePrefix(&word, "\"");
  absl::ConsumeSuffix(&word, "\"");
  const size_t slash = word.rfind('/');
  return slash == absl::string_view::npos ? word : word.substr(slash + 1);
}

}  // namespace

absl::StatusOr<NvccSteps> ReadDryRun(absl::string_view listing) {
  NvccSteps steps{std::string(kBegin), std::string(kBegin)};
  bool compiles = false, assembles = false;
  for (absl::string_view line : absl::StrSplit(listing, '\n')) {
    if (!absl::ConsumePrefix(&line, "#$ ")) continue;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    if (const size_t name = NameLength(line); name > 0) {
      // Quoted lists are nvcc's own, and the commands already contain them.
      const absl::string_view value = line.substr(name + 1);
      if (value.find_first_of(" \"'") != absl::string_view::npos) continue;
      for (std::string* script : {&steps.to_ptx, &steps.from_ptx}) {
        absl::StrAppend(script, "export ", line, "\n");
      }
      continue;
    }
    const absl::string_view program = ProgramOf(line);
    if (program == "rm") continue;
    compiles |= program == "cicc";
    assembles |= program == "ptxas";
    const bool before =
        program == "cicc" || program == "cudafe++" || absl::StrContains(line, " -E ");
    absl::StrAppend(before ? &steps.to_ptx : &steps.from_ptx, line, "\n");
  }
  if (compiles && assembles) return steps;
  return absl::InternalError("nvcc --dryrun names no cicc or no ptxas");
}

}  // namespace ksearch
