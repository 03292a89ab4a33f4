#ifndef KSEARCH_CLI_OPTION_KINDS_H_
#define KSEARCH_CLI_OPTION_KINDS_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace ksearch {

// Options by the kind of their value. What `set` or `take` refers to must outlive `app`; a value of
// another form is a usage error that names the flag.

// The most rounds that the coordinator takes (coordinator/engine/run_settings.cc).
inline constexpr int kMostRounds = 1'000'000;

// A whole number from 1 to `most`. (Zero means "not given" in requests.)
template <typename Number>
void AddWholeNumber(CLI::App* app, const std::string& flag, const std::string& text, Number most,
                    std::function<void(Number)> set) {
  app->add_option_function<std::string>(
         flag,
         [flag, most, set](const std::string& given) {
           Number value = 0;
           if (!absl::SimpleAtoi(given, &value) || value < 1 || value > most) {
             throw CLI::ValidationError(
                 flag, absl::StrCat("'", given, "' must be a whole number from 1 to ", most));
           }
           set(value);
         },
         text)
      ->type_name("NUMBER");
}

// A duration: "90" (seconds), "45m" or "2h30m"; above 0 and at most a year.
CLI::Option* AddDuration(CLI::App* app, const std::string& flag, const std::string& help,
                         std::function<void(const absl::Duration&)> take);

// The words accepted for a language.
CLI::IsMember LanguageWord();

}  // namespace ksearch

#endif  // KSEARCH_CLI_OPTION_KINDS_H_
