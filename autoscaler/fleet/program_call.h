#ifndef KSEARCH_AUTOSCALER_FLEET_PROGRAM_CALL_H_
#define KSEARCH_AUTOSCALER_FLEET_PROGRAM_CALL_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch {

// One call of a scheduler's or user's program.
struct ProgramCall {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // added to what BaseEnvironment has
  std::string input;                               // its standard input
  std::string input_file;                          // the same from a file, in place of `input`
  absl::Duration timeout = absl::Seconds(60);
};

// What it printed. UNAVAILABLE, with its name and the last line of its standard error, if it did
// not end with 0 in time; NOT_FOUND if there is no such program.
absl::StatusOr<std::string> CallProgram(const ProgramCall& call);

// The part of this process's environment that programs need to work as they do in the user's own
// shell: where to find programs, files and agents. Never a token of ksearch's.
std::map<std::string, std::string> BaseEnvironment();

// `text` as one word of a POSIX shell.
std::string ShellWord(absl::string_view text);

// The line without what is not printable, at most 500 bytes.
std::string OneLine(absl::string_view text);

// The last line that has something in it, likewise; "": there is none.
std::string LastLine(absl::string_view text);

// Whether it may name an instance: [A-Za-z0-9_.-]{1,64}.
bool IsInstanceId(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_PROGRAM_CALL_H_
