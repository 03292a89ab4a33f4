#ifndef KSEARCH_CLI_COMPLETION_H_
#define KSEARCH_CLI_COMPLETION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// The words that may appear on a command line, from the option tables.
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

// The shells for which there is a script.
std::vector<std::string> CompletionShells();

// Returns a script that makes the shell complete commands and flags of `program`, and files
// elsewhere. REQUIRES: `shell` is one of CompletionShells().
std::string CompletionScript(absl::string_view shell, const CommandWords& program);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPLETION_H_
