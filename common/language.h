#ifndef KSEARCH_COMMON_LANGUAGE_H_
#define KSEARCH_COMMON_LANGUAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/task.pb.h"

namespace ksearch {

// The program that builds a language's programs.
enum class Toolkit {
  kNone,  // nothing yet: no worker takes such programs
  kGxx,
  kNvcc,
  kPython,  // the interpreter that also runs them
};

// Which scanner reads the text of a candidate for what no kernel needs.
enum class SourceScanner {
  kNone,  // its builder does, which parses it
  kCpp,   // C++ for processors
  kCuda,  // C++ with what matters on a GPU only
};

// One language: everything that differs between languages but the code that is theirs alone (their
// builder, the words of their prompts).
struct LanguageFacts {
  v1::Language id = v1::LANGUAGE_UNSPECIFIED;
  // Name for users, e.g. "cpp"; lower case.
  absl::string_view name;
  // Other words that people type for it.
  std::vector<absl::string_view> aliases;
  // In prose, e.g. "CUDA C++".
  absl::string_view title;
  // Devices its programs run on; the usual one first.
  std::vector<v1::DeviceClass> devices;
  // The device classes for which workers of this release build and run it, as far as their toolkits
  // can (Builder::ServesDevice).
  std::vector<v1::DeviceClass> built_for;
  Toolkit toolkit = Toolkit::kNone;
  // Advice on a missing or broken compiler or interpreter.
  absl::string_view toolkit_advice;
  // The compiler can put delays at a program's barriers and add a line table (BuildVariant).
  bool builds_instrumented = false;
  // The toolkit's version determines the functions that programs may call, so that prompts name it.
  bool toolkit_is_told = false;
  SourceScanner scanner = SourceScanner::kNone;

  // File names: a program's main file, extensions that identify the language (the first is that of
  // a task's own programs), and extensions of files that may accompany them.
  absl::string_view main_path;
  // The main file is the one of that name, or the only one outside of folders; other files count if
  // it imports them. Where false, all are built together.
  bool has_one_main_file = false;
  std::vector<absl::string_view> main_extensions;
  std::vector<absl::string_view> more_extensions;

  // Characteristics of program texts: words that some file must have, the tags of code fences, how
  // a file may begin, and the beginning of a comment up to the end of a line.
  absl::string_view entry;
  // Beginnings of lines that define the entry, the usual ones first; empty if `entry` is
  // sufficient.
  std::vector<absl::string_view> entry_lines;
  std::vector<absl::string_view> fence_tags;
  std::vector<absl::string_view> openings;
  absl::string_view line_comment;
  // Delimiters of strings that may span lines; empty if there are none.
  std::vector<absl::string_view> long_quotes;
};

// The table. The first is the default where nothing says otherwise.
absl::Span<const LanguageFacts> Languages();
const LanguageFacts& DefaultLanguage();

// Null for a value without a row, e.g. of a newer release.
const LanguageFacts* FindLanguage(v1::Language language);
// By name or alias, in any case of letters; null if there is none.
const LanguageFacts* FindLanguage(absl::string_view word);
// As FindLanguage, but the default's for a value without a row.
const LanguageFacts& FactsOf(v1::Language language);

// "cpp"; for a value without a row "unspecified" or its number.
std::string LanguageName(v1::Language language);
// Every name, for usage texts: "cpp, cuda or python".
std::string LanguageNames();

// Returns true if programs in it run on devices of this class; false for a value without a row.
bool RunsOn(v1::Language language, v1::DeviceClass device);
// Returns true if workers of this release build and run them there.
bool BuiltFor(v1::Language language, v1::DeviceClass device);
// The device that programs in it run on for a task of this device class: that one, or else the
// language's usual one.
v1::DeviceClass UsedDevice(v1::Language language, v1::DeviceClass device);

// The language that a file's ending says; nullopt if it says none.
std::optional<v1::Language> LanguageOfPath(absl::string_view path);

// Returns true if one of the files ends as main files of the language do.
bool HasMainFile(const google::protobuf::RepeatedPtrField<v1::SourceFile>& files,
                 const LanguageFacts& language);

// ".cpp, .cu or .py": of a task's own programs.
std::string MainExtensions();

}  // namespace ksearch

#endif  // KSEARCH_COMMON_LANGUAGE_H_
