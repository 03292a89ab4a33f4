#ifndef KSEARCH_CLI_EXAMPLES_H_
#define KSEARCH_CLI_EXAMPLES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// A command line to copy, and what it does.
struct Example {
  std::string line;
  std::string text;
};

// Shown at the end of the command's --help; "": of the program's own. Empty: there are none.
const std::vector<Example>& ExamplesOf(absl::string_view command);

// The same as the end of a help text.
std::string ExamplesText(absl::string_view command);

}  // namespace ksearch

#endif  // KSEARCH_CLI_EXAMPLES_H_
