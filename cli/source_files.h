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

// Writes a program below a folder, which is made if it is not there; files of the same names are
// replaced. INVALID_ARGUMENT: a file would lie outside of it.
absl::Status WriteSourceFiles(const v1::Sources& sources, const std::string& folder);

// The language of the first file whose ending names another than the default; else the default:
// beside a program's .cu there may be a .cpp.
v1::Language LanguageOf(const std::vector<v1::SourceFile>& files);

}  // namespace ksearch

#endif  // KSEARCH_CLI_SOURCE_FILES_H_
