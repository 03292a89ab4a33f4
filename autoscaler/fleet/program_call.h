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
  std::map<std::string, std::string> environment;  // added to BaseEnvironment
  std::string input;                               // its standard input
  std::string input_file;                          // file used as standard input instead of `input`
  absl::Duration timeout = absl::Seconds(60);
};

// Returns the program's standard output. Fails with UNAVAILABLE if the program does not exit with
// status 0 in time; the message has its name and the last line of its standard error. Fails with
// NOT_FOUND if the program does not exist.
absl::StatusOr<std::string> CallProgram(const ProgramCall& call);

// The part of this process's environment that programs need to work as in the user's own shell: the
// paths of programs, files and agents. Never contains a token of ksearch.
std::map<std::string, std::string> BaseEnvironment();

// Quotes `text` as one word of a POSIX shell.
std::string ShellWord(absl::string_view text);

// Removes unprintable characters and truncates to 500 bytes.
std::string OneLine(absl::string_view text);

// Returns the last line that is not blank, cleaned in the same way; "" if there is none.
std::string LastLine(absl::string_view text);

// Returns true if the text is a valid instance id: [A-Za-z0-9_.-]{1,64}.
bool IsInstanceId(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_PROGRAM_CALL_H_
