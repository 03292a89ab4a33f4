#ifndef KSEARCH_COMMON_NAMES_H_
#define KSEARCH_COMMON_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

inline constexpr int64_t kMaxTaskNameBytes = 200;

// Letters, digits and '_', not beginning with a digit: a name in C and in Python.
bool IsIdentifier(absl::string_view name);

// Returns true if a task, and so its folder, may have this name: one to kMaxTaskNameBytes letters,
// digits, '_', '.' and '-', not beginning with '.'.
bool IsTaskName(absl::string_view name);

// A task name like `text`, in which '_' stands for all other characters.
std::string TaskNameFrom(absl::string_view text);

inline constexpr size_t kMaxTrialNameBytes = 64;

// Returns true if an experiment or an arm may have this name: one to kMaxTrialNameBytes letters,
// digits, '_', '.' and '-', not beginning with '.' or '-'.
bool IsTrialName(absl::string_view name);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_NAMES_H_
