#ifndef KSEARCH_CLI_VALUE_WORDS_H_
#define KSEARCH_CLI_VALUE_WORDS_H_

#include <CLI/CLI.hpp>

namespace ksearch {

// Makes the help of `app` and of all its commands describe option values as "--out FILE" or
// "--language cpp|cuda|python", where the library would print types and ranges of numbers.
void NameValues(CLI::App* app);

}  // namespace ksearch

#endif  // KSEARCH_CLI_VALUE_WORDS_H_
