#ifndef KSEARCH_CLI_EXAMPLES_H_
#define KSEARCH_CLI_EXAMPLES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// A command line to copy, and its purpose.
struct Example {
  std::string line;
  std::string text;
};

// The examples at the end of the command's --help; "": those of the program itself. Empty if there
// are none.
const std::vector<Example>& ExamplesOf(absl::string_view command);

// The same, formatted for the end of a help text.
std::string ExamplesText(absl::string_view command);

}  // namespace ksearch

#endif  // KSEARCH_CLI_EXAMPLES_H_
