#ifndef KSEARCH_CLI_COMPLETION_H_
#define KSEARCH_CLI_COMPLETION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// What may stand on a command line, as the option tables say.
struct CommandWords {
  struct Flag {
    std::vector<std::string> names;  // with their dashes
    std::string text;
  };
  std::string name;
  std::string text;
  std::vector<Flag> flags;
  std::vector<CommandWords> commands;
};

// Shells that there is a script for.
std::vector<std::string> CompletionShells();

// A script that makes the shell complete commands and flags of `program`, and files elsewhere.
// REQUIRES: `shell` is one of CompletionShells().
std::string CompletionScript(absl::string_view shell, const CommandWords& program);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPLETION_H_
