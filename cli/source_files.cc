#include "cli/source_files.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {

absl::StatusOr<std::vector<v1::SourceFile>> ReadSourceFiles(const std::vector<std::string>& paths) {
  std::vector<v1::SourceFile> files;
  for (const std::string& path : paths) {
    v1::SourceFile file;
    file.set_path(path.substr(path.rfind('/') + 1));
    for (const v1::SourceFile& other : files) {
      if (other.path() == file.path()) {
        return absl::InvalidArgumentError(absl::StrCat("two files are named ", file.path()));
      }
    }
    ASSIGN_OR_RETURN(*file.mutable_content(), ReadFile(path, int64_t{1} << 20));
    files.push_back(std::move(file));
  }
  return files;
}

v1::Language LanguageOf(const std::vector<v1::SourceFile>& files) {
  for (const v1::SourceFile& file : files) {
    if (absl::EndsWith(file.path(), ".cu")) return v1::LANGUAGE_CUDA;
    if (absl::EndsWith(file.path(), ".py")) return v1::LANGUAGE_TRITON;
  }
  return v1::LANGUAGE_CPP;
}

}  // namespace ksearch
