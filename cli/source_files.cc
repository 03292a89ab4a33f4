#include "cli/source_files.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/utf8.h"

namespace ksearch {
namespace {

// More than any worker would build.
constexpr int64_t kMaxFileBytes = int64_t{1} << 20;

}  // namespace

absl::StatusOr<std::vector<v1::SourceFile>> ReadSourceFiles(const std::vector<std::string>& paths) {
  std::vector<v1::SourceFile> files;
  for (const std::string& path : paths) {
    v1::SourceFile file;
    file.set_path(path.substr(path.rfind('/') + 1));
    for (const v1::SourceFile& other : files) {
      if (other.path() == file.path()) {
        return absl::InvalidArgumentError(
            absl::StrCat("two files are named ", file.path(), "; rename one of them"));
      }
    }
    absl::StatusOr<std::string> content = ReadFile(path, kMaxFileBytes);
    if (absl::IsResourceExhausted(content.status())) {
      return absl::InvalidArgumentError(content.status().message());
    }
    RETURN_IF_ERROR(content.status());
    if (const size_t text = ValidUtf8Bytes(*content); text < content->size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " is not UTF-8 text: see byte ", text, " of ", content->size()));
    }
    file.set_content(*std::move(content));
    files.push_back(std::move(file));
  }
  return files;
}

v1::Language LanguageOf(const std::vector<v1::SourceFile>& files) {
  const v1::Language usual = DefaultLanguage().id;
  for (const v1::SourceFile& file : files) {
    if (const auto language = LanguageOfPath(file.path()); language.value_or(usual) != usual) {
      return *language;
    }
  }
  return usual;
}

absl::Status WriteSourceFiles(const v1::Sources& sources, const std::string& folder) {
  for (const v1::SourceFile& file : sources.files()) {
    const std::filesystem::path relative = std::filesystem::path(file.path()).lexically_normal();
    // A model wrote these paths: they must stay inside the folder.
    if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") {
      return absl::InvalidArgumentError(
          absl::StrCat("the program has a file outside of its folder: ", file.path()));
    }
    const std::filesystem::path path = std::filesystem::path(folder) / relative;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      return ErrnoStatus(error.value(), absl::StrCat("create ", path.parent_path().string()));
    }
    RETURN_IF_ERROR(WriteFileAtomically(path.string(), file.content()));
  }
  return absl::OkStatus();
}

}  // namespace ksearch
