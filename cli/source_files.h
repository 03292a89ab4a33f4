#ifndef KSEARCH_CLI_SOURCE_FILES_H_
#define KSEARCH_CLI_SOURCE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/task.pb.h"

namespace ksearch {

// Reads program files; each is named by its base name in the candidate. INVALID_ARGUMENT if two
// have the same base name.
absl::StatusOr<std::vector<v1::SourceFile>> ReadSourceFiles(const std::vector<std::string>& paths);

// Writes a program into a folder, which is created if necessary; files of the same names are
// replaced. INVALID_ARGUMENT: a file would be outside of it.
absl::Status WriteSourceFiles(const v1::Sources& sources, const std::string& folder);

// Returns the language of the first file whose extension names a language other than the default,
// otherwise the default: a .cu program may have .cpp files beside it.
v1::Language LanguageOf(const std::vector<v1::SourceFile>& files);

}  // namespace ksearch

#endif  // KSEARCH_CLI_SOURCE_FILES_H_
