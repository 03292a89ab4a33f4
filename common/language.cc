#include "common/language.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/kernel_header.h"

namespace ksearch {
namespace {

std::vector<LanguageFacts> MakeTable() {
  const std::vector<absl::string_view> cpp_fence_tags = {"cpp", "c++", "cuda", "cu",
                                                         "c",   "cc",  "cxx",  "cuda-cpp"};
  const std::vector<absl::string_view> cpp_openings = {
      "#include", "#define",    "#pragma", "#if",     "//",      "/*",
      "extern ",  "namespace ", "using ",  "static ", "template"};
  return {
      {.id = v1::LANGUAGE_CPP,
       .name = "cpp",
       .aliases = {},
       .title = "C++",
       .devices = {v1::DEVICE_CLASS_CPU},
       .built_for = {v1::DEVICE_CLASS_CPU},
       .toolkit = Toolkit::kGxx,
       .toolkit_advice = "install g++, or set compiler_path",
       .builds_instrumented = false,
       .toolkit_is_told = false,
       .scanner = SourceScanner::kCpp,
       .main_path = "kernel.cpp",
       .has_one_main_file = false,
       .main_extensions = {".cpp", ".cc", ".cxx", ".c++"},
       .more_extensions = {".h", ".hpp", ".inl", ".c"},
       .entry = kEntrySymbol,
       .entry_lines = {},
       .fence_tags = cpp_fence_tags,
       .openings = cpp_openings,
       .line_comment = "// ",
       .long_quotes = {}},
      {.id = v1::LANGUAGE_CUDA,
       .name = "cuda",
       .aliases = {},
       .title = "CUDA C++",
       .devices = {v1::DEVICE_CLASS_CUDA},
       .built_for = {v1::DEVICE_CLASS_CUDA},
       .toolkit = Toolkit::kNvcc,
       .toolkit_advice =
           "install a CUDA toolkit and g++, or set compiler_path and host_compiler_path",
       .builds_instrumented = true,
       .toolkit_is_told = false,
       .scanner = SourceScanner::kCuda,
       .main_path = "kernel.cu",
       .has_one_main_file = false,
       .main_extensions = {".cu"},
       .more_extensions = {".cuh", ".h", ".hpp", ".inl"},
       .entry = kEntrySymbol,
       .entry_lines = {},
       .fence_tags = cpp_fence_tags,
       .openings = cpp_openings,
       .line_comment = "// ",
       .long_quotes = {}},
      // On GPUs this mostly means Triton.
      {.id = v1::LANGUAGE_PYTHON,
       .name = "python",
       .aliases = {"triton"},
       .title = "Python",
       .devices = {v1::DEVICE_CLASS_CUDA, v1::DEVICE_CLASS_CPU},
       .built_for = {v1::DEVICE_CLASS_CUDA, v1::DEVICE_CLASS_CPU},
       .toolkit = Toolkit::kPython,
       .toolkit_advice = "install torch for the interpreter (Debian: python3-torch; elsewhere, and "
                         "for GPUs: pip install torch), or set interpreter",
       .builds_instrumented = false,
       .toolkit_is_told = true,
       .scanner = SourceScanner::kNone,
       .main_path = "kernel.py",
       .has_one_main_file = true,
       .main_extensions = {".py"},
       .more_extensions = {},
       .entry = "def run",
       .entry_lines = {"def run(", "run =", "run=", "run:", "def run ("},
       .fence_tags = {"python", "py", "python3", "triton"},
       .openings = {"import ", "from ", "#", "@", "\"\"\"", "'''", "def ", "class "},
       .line_comment = "# ",
       .long_quotes = {"\"\"\"", "'''"}},
  };
}

// "a, b or c".
std::string Choice(const std::vector<absl::string_view>& words) {
  if (words.size() < 2) return absl::StrJoin(words, "");
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "), " or ", words.back());
}

bool EndsAsMainFile(absl::string_view path, const LanguageFacts& language) {
  return std::any_of(language.main_extensions.begin(), language.main_extensions.end(),
                     [&](absl::string_view extension) { return absl::EndsWith(path, extension); });
}

bool Contains(const std::vector<v1::DeviceClass>& devices, v1::DeviceClass device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

}  // namespace

absl::Span<const LanguageFacts> Languages() {
  static const auto* const table = new std::vector<LanguageFacts>(MakeTable());
  return *table;
}

const LanguageFacts& DefaultLanguage() { return Languages().front(); }

const LanguageFacts* FindLanguage(v1::Language language) {
  for (const LanguageFacts& facts : Languages()) {
    if (facts.id == language) return &facts;
  }
  return nullptr;
}

const LanguageFacts* FindLanguage(absl::string_view word) {
  const auto is_word = [word](absl::string_view own) { return absl::EqualsIgnoreCase(own, word); };
  for (const LanguageFacts& facts : Languages()) {
    if (is_word(facts.name) || std::any_of(facts.aliases.begin(), facts.aliases.end(), is_word)) {
      return &facts;
    }
  }
  return nullptr;
}

const LanguageFacts& FactsOf(v1::Language language) {
  const LanguageFacts* const facts = FindLanguage(language);
  return facts != nullptr ? *facts : DefaultLanguage();
}

std::string LanguageName(v1::Language language) {
  if (const LanguageFacts* const facts = FindLanguage(language); facts != nullptr) {
    return std::string(facts->name);
  }
  if (language == v1::LANGUAGE_UNSPECIFIED) return "unspecified";
  return absl::StrCat("language ", static_cast<int>(language));
}

std::string LanguageNames() {
  std::vector<absl::string_view> names;
  for (const LanguageFacts& facts : Languages()) names.push_back(facts.name);
  return Choice(names);
}

bool RunsOn(v1::Language language, v1::DeviceClass device) {
  const LanguageFacts* const facts = FindLanguage(language);
  return facts != nullptr && Contains(facts->devices, device);
}

bool BuiltFor(v1::Language language, v1::DeviceClass device) {
  const LanguageFacts* const facts = FindLanguage(language);
  return facts != nullptr && Contains(facts->built_for, device);
}

v1::DeviceClass UsedDevice(v1::Language language, v1::DeviceClass device) {
  const LanguageFacts& facts = FactsOf(language);
  return RunsOn(facts.id, device) ? device : facts.devices.front();
}

std::optional<v1::Language> LanguageOfPath(absl::string_view path) {
  for (const LanguageFacts& facts : Languages()) {
    if (EndsAsMainFile(path, facts)) return facts.id;
  }
  return std::nullopt;
}

bool HasMainFile(const google::protobuf::RepeatedPtrField<v1::SourceFile>& files,
                 const LanguageFacts& language) {
  return std::any_of(files.begin(), files.end(), [&](const v1::SourceFile& file) {
    return EndsAsMainFile(file.path(), language);
  });
}

std::string MainExtensions() {
  std::vector<absl::string_view> extensions;
  for (const LanguageFacts& facts : Languages()) extensions.push_back(facts.main_extensions[0]);
  return Choice(extensions);
}

}  // namespace ksearch
