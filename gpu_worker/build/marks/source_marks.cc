#include "gpu_worker/build/marks/source_marks.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/language.h"
#include "gpu_worker/build/marks/code_words.h"
#include "gpu_worker/build/marks/unawaited_copies.h"

namespace ksearch {
namespace {

constexpr char kMarkStart[] = "source: ";

struct Rule {
  enum class Seen {
    kCall,       // the name, followed by '(', not a member of something nor in a namespace but std;
                 // also if an asm text has nothing else
    kName,       // the name, anywhere; also within an asm text
    kText,       // within a string literal
    kStd,        // the name, directly in std, by whatever name that goes
    kDriver,     // the driver's function of that name, of any version; also within a string literal
    kAttribute,  // the name, in an attribute
  };
  const char* what;
  Seen seen;
  bool gpu_only;  // programs for processors have honest uses of it
  std::vector<absl::string_view> words;
};

// Every kind of mark, and the reason.
//
// * Opens files, looks at the machine: inputs and outputs come as arguments.
// * Starts processes, threads: a call's work is on its stream when the call returns.
// * Talks to others: there is nobody to talk to.
// * Looks up functions of other libraries: this is a way to the driver's clock and to the harness.
//   Calls of cudaGetDriverEntryPoint get no mark, because programs need it for tensor maps.
// * Changes the memory of its process: this is a way to overwrite functions of others.
// * Traces, handles signals, system calls: these are other ways to do the same.
// * Makes a context of its own: a runner waits only for the work of its own context. A string
//   literal names the function that cudaGetDriverEntryPoint is asked for.
// * Reserves L2 cache: this makes a cold call warm. Cache hints of single accesses do not.
// * Asks whether it is being recorded: a program needs to know that only to do something else when
//   it is timed.
// * Stands in for functions of others: other code may be bound to a function of the same name.
// * Runs while it is loaded: inputs do not exist yet.
// * Works on a stream that it never joins: what is done there is not in order with the call.
// * Never waits for its copies: unawaited_copies.h.
const std::vector<Rule>& Rules() {
  using Seen = Rule::Seen;
  static const auto* const rules = new std::vector<Rule>{
      {"opens files", Seen::kCall, false, {"open", "creat"}},
      {"opens files",
       Seen::kName,
       false,
       {"fopen", "fopen64", "freopen", "openat", "open64", "openat2", "opendir", "fdopen",
        "tmpfile", "mkstemp", "shm_open", "ifstream", "ofstream", "fstream", "filebuf", "O_RDONLY",
        "O_WRONLY", "O_RDWR", "O_CREAT"}},
      {"looks at the machine",
       Seen::kText,
       false,
       {"/proc", "/sys/", "/dev/", "/etc/", "/home", "/root", "/tmp", "LD_PRELOAD", "libcuda.so"}},
      {"looks at the machine", Seen::kCall, false, {"readlink"}},
      {"looks at the machine",
       Seen::kName,
       false,
       {"getenv", "secure_getenv", "setenv", "putenv", "unsetenv", "getpid", "getppid",
        "gethostname", "dl_iterate_phdr", "getauxval", "environ", "__environ"}},
      {"starts processes", Seen::kCall, false, {"fork", "system", "daemon"}},
      {"starts processes",
       Seen::kName,
       false,
       {"vfork", "execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "execveat",
        "fexecve", "posix_spawn", "posix_spawnp", "popen", "setsid", "waitpid"}},
      {"starts threads", Seen::kName, true, {"pthread_create", "thrd_create", "jthread"}},
      {"starts threads", Seen::kStd, true, {"thread", "async"}},
      {"talks to others",
       Seen::kName,
       false,
       {"AF_INET", "AF_INET6", "AF_UNIX", "AF_LOCAL", "AF_NETLINK", "SOCK_STREAM", "SOCK_DGRAM",
        "recvmsg", "sendmsg", "shmget", "mq_open", "SCM_RIGHTS"}},
      {"looks up functions of other libraries",
       Seen::kName,
       false,
       {"dlopen", "dlmopen", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo", "cuGetProcAddress",
        "cuGetProcAddress_v2", "RTLD_NEXT", "RTLD_DEFAULT"}},
      {"changes the memory of its process",
       Seen::kName,
       true,
       {"mprotect", "pkey_mprotect", "mmap", "mmap64", "mremap", "memfd_create", "userfaultfd"}},
      {"changes the memory of its process", Seen::kName, false, {"PROT_EXEC"}},
      {"traces, handles signals, system calls",
       Seen::kCall,
       false,
       {"syscall", "signal", "alarm", "raise", "kill"}},
      {"traces, handles signals, system calls",
       Seen::kName,
       false,
       {"ptrace", "process_vm_readv", "process_vm_writev", "sigaction", "sigprocmask",
        "timer_create", "setitimer", "prctl", "arch_prctl", "tgkill", "perf_event_open"}},
      {"traces, handles signals, system calls", Seen::kText, false, {"syscall", "int $0x80"}},
      {"makes a context of its own",
       Seen::kDriver,
       true,
       {"cuCtxCreate", "cuCtxAttach", "cuCtxSetCurrent", "cuCtxPushCurrent",
        "cuDevicePrimaryCtxRetain", "cuGreenCtxCreate", "cudaGreenCtxCreate", "cuCtxFromGreenCtx"}},
      {"reserves L2 cache",
       Seen::kName,
       true,
       {"cudaLimitPersistingL2CacheSize", "CU_LIMIT_PERSISTING_L2_CACHE_SIZE",
        "cudaAccessPropertyPersisting", "CU_ACCESS_PROPERTY_PERSISTING", "accessPolicyWindow",
        "cudaCtxResetPersistingL2Cache", "cuCtxResetPersistingL2Cache"}},
      {"asks whether it is being recorded",
       Seen::kName,
       true,
       {"cudaStreamIsCapturing", "cudaStreamGetCaptureInfo", "cudaStreamGetCaptureInfo_v2",
        "cudaStreamGetCaptureInfo_v3", "cuStreamIsCapturing", "cuStreamGetCaptureInfo",
        "cudaStreamCaptureStatus", "CUstreamCaptureStatus"}},
      {"runs while it is loaded",
       Seen::kAttribute,
       false,
       {"__constructor__", "constructor", "ifunc", "__ifunc__"}},
  };
  return *rules;
}

// Functions that others call under these names.
const std::set<absl::string_view>& NamesOfOthers() {
  static const auto* const names = new std::set<absl::string_view>{
      "clock_gettime", "gettimeofday", "clock",   "time",    "clock_nanosleep", "nanosleep",
      "rdtsc",         "dlsym",        "dlopen",  "mmap",    "ioctl",           "poll",
      "read",          "write",        "recvmsg", "sendmsg", "malloc",          "free",
      "memcmp",        "memcpy",       "abort",   "exit",    "_exit",           "open"};
  return *names;
}

// Names of the table that a program may well give to its own functions, which are meant then.
bool IsOrdinary(absl::string_view name) {
  static const auto* const names = new std::set<absl::string_view>{
      "open", "system", "signal", "raise", "kill", "alarm", "daemon", "readlink", "fork"};
  return names->count(name) > 0;
}

// System calls that a program for processors may make by number, as no function of the C library
// makes them, or one does only since lately: threads that wait for a word of memory, and permission
// to use matrix tiles (the filter of a measured program refuses all else that arch_prctl can do).
bool IsHarmlessCall(absl::string_view number) {
  if (!absl::ConsumePrefix(&number, "SYS_") && !absl::ConsumePrefix(&number, "__NR_")) return false;
  return number == "futex" || number == "arch_prctl" || number == "gettid" || number == "getcpu";
}

using RulesByWord = std::multimap<absl::string_view, const Rule*>;
const RulesByWord& NameRules() {
  static const auto* const by_word = [] {
    auto* const rules = new RulesByWord;
    for (const Rule& rule : Rules()) {
      if (rule.seen == Rule::Seen::kText) continue;
      for (const absl::string_view word : rule.words) rules->emplace(word, &rule);
    }
    return rules;
  }();
  return *by_word;
}

// "cuCtxCreate" for cuCtxCreate_v2 and PFN_cuCtxCreate_v3020.
absl::string_view WithoutVersion(absl::string_view name) {
  absl::ConsumePrefix(&name, "PFN_");
  const size_t end = name.find_last_not_of("0123456789");
  if (end != absl::string_view::npos && end + 1 < name.size() && end > 0 &&
      absl::EndsWith(name.substr(0, end + 1), "_v")) {
    name.remove_suffix(name.size() - (end - 1));
  }
  return name;
}

// Returns true if `part` is in `text`; a path, at its root: "sum/root" is none.
bool Contains(absl::string_view text, absl::string_view part) {
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
    if (part[0] != '/' || at == 0) return true;
    if (!absl::ascii_isalnum(static_cast<unsigned char>(text[at - 1]))) return true;
    if (at >= 2 && text[at - 2] == '\\') return true;  // "\n/"
  }
  return false;
}

bool AnyOf(const std::set<std::string>& names, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&names](const char* word) { return names.count(word) > 0; });
}

struct Found {
  std::string word;
  std::string path;
  int line = 0;
};

// The files of one candidate.
class Scanner {
 public:
  explicit Scanner(bool gpu) : gpu_(gpu) {}

  // Called for every file before the first Scan: collects the names of the program's functions.
  void Learn(const std::vector<CodeWord>& words) {
    words_ = &words;
    linkage_.clear();
    for (size_t at = 0; at < words.size(); ++at) {
      Follow(at);
      if (!IsName(at)) continue;
      names_.insert(words[at].word);
      if (at >= 2 && Is(at - 1, "define") && Is(at - 2, "#")) defined_.insert(words[at].word);
      LearnStd(at);
      if (IsOrdinary(words[at].word) && IsDefinition(at) && !IsOfC(at)) own_.insert(words[at].word);
    }
  }
  void Scan(const std::string& path, const std::vector<CodeWord>& words) {
    words_ = &words;
    linkage_.clear();
    if (gpu_) copies_.Read(path, words);
    for (size_t at = 0; at < words.size(); ++at) {
      Follow(at);
      if (words[at].kind == CodeWord::Kind::kText) {
        for (const Rule& rule : Rules()) {
          const bool of_text = rule.seen == Rule::Seen::kText || rule.seen == Rule::Seen::kDriver;
          if (!of_text || (rule.gpu_only && !gpu_)) continue;
          for (const absl::string_view part : rule.words) {
            if (Contains(words[at].word, part)) Add(rule.what, part, path, at);
          }
        }
        if (IsAsm(at)) ScanAsm(path, at);
      } else if (IsName(at)) {
        const absl::string_view base = WithoutVersion(words[at].word);
        for (const absl::string_view name : {absl::string_view(words[at].word), base}) {
          const auto [begin, end] = NameRules().equal_range(name);
          for (auto rule = begin; rule != end; ++rule) {
            const bool is_meant =
                name == words[at].word || rule->second->seen == Rule::Seen::kDriver;
            if (is_meant && Applies(*rule->second, at)) {
              Add(rule->second->what, words[at].word, path, at);
            }
          }
        }
        if (StandsIn(at)) Add(kStandsIn, words[at].word, path, at);
      }
      if (gpu_ && absl::StrContains(words[at].word, "StreamCreate") && IsName(at)) {
        stream_ = stream_.value_or(Found{words[at].word, path, words[at].line});
      }
    }
  }
  std::vector<std::string> Marks() {
    if (stream_.has_value() &&
        !AnyOf(names_, {"cudaStreamWaitEvent", "cudaStreamSynchronize", "cudaEventSynchronize",
                        "cudaDeviceSynchronize", "cudaStreamEndCapture", "cuStreamWaitEvent",
                        "cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize",
                        "cuStreamEndCapture"})) {
      found_.try_emplace(kUnjoined, *stream_);
    }
    if (const auto copy = copies_.First(); copy.has_value()) {
      found_.try_emplace(kUnawaited, Found{copy->word, copy->path, copy->line});
    }
    std::vector<std::string> marks;
    for (const auto& [what, found] : found_) {
      marks.push_back(
          absl::StrCat(kMarkStart, what, ": ", found.word, " at ", found.path, ":", found.line));
    }
    return marks;
  }

 private:
  static constexpr char kStandsIn[] = "stands in for functions of others";
  static constexpr char kUnjoined[] = "works on a stream that it never joins";
  static constexpr char kUnawaited[] = "never waits for its copies";

  const CodeWord& Word(size_t at) const { return (*words_)[at]; }
  bool Is(size_t at, absl::string_view word) const {
    return at < words_->size() && Word(at).kind != CodeWord::Kind::kText && Word(at).word == word;
  }
  bool IsName(size_t at) const {
    return at < words_->size() && Word(at).kind == CodeWord::Kind::kName;
  }
  bool IsExternC(size_t at) const {
    return Is(at, "extern") && at + 1 < words_->size() &&
           Word(at + 1).kind == CodeWord::Kind::kText && Word(at + 1).word == "C";
  }
  // "#include <fstream>": an unused include has no effect.
  bool IsIncluded(size_t at) const {
    for (size_t i = at; i > 1 && Word(i - 1).line == Word(at).line; --i) {
      if (Is(i - 1, "include") && Is(i - 2, "#")) return true;
    }
    return false;
  }
  // Keeps count of the braces around the words, and whether they are those of extern "C".
  void Follow(size_t at) {
    if (Is(at, "{")) linkage_.push_back(at >= 2 && IsExternC(at - 2));
    if (Is(at, "}") && !linkage_.empty()) linkage_.pop_back();
  }
  // Returns true if other code can be bound to the function declared here.
  bool IsOfC(size_t at) const {
    if (!linkage_.empty() && linkage_.back()) return true;
    for (size_t i = at; i > 0 && !Is(i, ";") && !Is(i, "}") && !Is(i, "{"); --i) {
      if (IsExternC(i - 1)) return true;
    }
    return false;
  }
  // Declared here for this file alone.
  bool IsStatic(size_t at) const {
    if (defined_.count("static") > 0) return false;
    for (size_t i = at; i > 0 && !Is(i - 1, ";") && !Is(i - 1, "}") && !Is(i - 1, "{"); --i) {
      if (Is(i - 1, "static")) return true;
    }
    return false;
  }
  // After "." or "->", or within a namespace or class that is not std.
  bool BelongsToSomething(size_t at) const {
    if (at >= 1 && Is(at - 1, ".")) return true;
    if (at >= 2 && Is(at - 1, ">") && Is(at - 2, "-")) return true;
    return at >= 3 && Is(at - 1, ":") && Is(at - 2, ":") && IsName(at - 3) && !Is(at - 3, "std") &&
           !IsStatementWord(at - 3);
  }
  // Words that may precede an expression: "return ::open(" does not name a member.
  bool IsStatementWord(size_t at) const {
    const absl::string_view word = Word(at).word;
    return word == "return" || word == "else" || word == "do" || word == "case" ||
           word == "throw" || word == "co_return" || word == "co_await" || word == "co_yield";
  }
  // "int open(", "T* open(": the program's own function, or its declaration.
  bool IsDeclared(size_t at) const {
    if (at == 0 || !Is(at + 1, "(")) return false;
    if (IsName(at - 1)) return !IsStatementWord(at - 1);
    size_t type = at - 1;
    while (type > 0 && (Is(type, "*") || Is(type, "&"))) --type;
    // "a * f(b)" looks alike, but no program multiplies by one of these functions.
    return type < at - 1 && IsName(type) && !Is(type, "return");
  }
  // Its body follows.
  bool IsDefinition(size_t at) const {
    if (!IsDeclared(at) || BelongsToSomething(at)) return false;
    int depth = 0;
    size_t end = at + 1;
    for (; end < words_->size(); ++end) {
      if (Is(end, "(")) ++depth;
      if (Is(end, ")") && --depth == 0) break;
    }
    while (end < words_->size() && !Is(end, "{") && !Is(end, ";") && !Is(end, ",")) ++end;
    return Is(end, "{");
  }
  // The text of an asm statement, or the name that an asm label gives to a function: what the
  // program calls by another name.
  bool IsAsm(size_t at) const {
    if (at < 2 || !Is(at - 1, "(")) return false;
    size_t i = at - 2;
    while (i > 0 && (Is(i, "volatile") || Is(i, "__volatile__") || Is(i, "__volatile") ||
                     Is(i, "goto") || Is(i, "inline"))) {
      --i;
    }
    return Is(i, "asm") || Is(i, "__asm__") || Is(i, "__asm");
  }
  // After a declaration's parameters.
  bool IsAsmLabel(size_t at) const { return at >= 3 && Is(at - 3, ")") && Is(at + 1, ")"); }
  void ScanAsm(const std::string& path, size_t at) {
    const absl::string_view text = Word(at).word;
    for (size_t i = 0; i < text.size();) {
      const auto in_name = [&text](size_t j) {
        return j < text.size() &&
               (absl::ascii_isalnum(static_cast<unsigned char>(text[j])) || text[j] == '_');
      };
      if (!in_name(i)) {
        i += text[i] == '\\' ? 2 : 1;
        continue;
      }
      size_t end = i;
      while (in_name(end)) ++end;
      const absl::string_view name = text.substr(i, end - i);
      const bool all = name.size() == text.size();
      bool known = false;
      const auto [begin, last] = NameRules().equal_range(name);
      for (auto rule = begin; rule != last; ++rule) {
        if (rule->second->gpu_only && !gpu_) continue;
        if (rule->second->seen == Rule::Seen::kName ||
            (rule->second->seen == Rule::Seen::kCall && all)) {
          Add(rule->second->what, name, path, at);
          known = true;
        }
      }
      if (all && !known && IsAsmLabel(at) && IsNameOfOthers(name)) Add(kStandsIn, name, path, at);
      i = end;
    }
  }
  bool IsAttribute(size_t at) const {
    for (size_t i = at; i > 0 && at - i < 16 && !Is(i, ";") && !Is(i, "}"); --i) {
      if (Is(i - 1, "__attribute__") || Is(i - 1, "gnu")) return true;
    }
    return false;
  }
  // "namespace s = std", "using namespace std": std may be written "::std".
  void LearnStd(size_t at) {
    if (std_names_.count(Word(at).word) == 0) return;
    size_t before = at;
    if (before >= 2 && Is(before - 1, ":") && Is(before - 2, ":")) before -= 2;
    if (before >= 2 && Is(before - 1, "namespace") && Is(before - 2, "using")) std_is_open_ = true;
    if (before >= 3 && Is(before - 1, "=") && IsName(before - 2) && Is(before - 3, "namespace")) {
      std_names_.insert(Word(before - 2).word);
    }
  }
  bool IsInStd(size_t at) const {
    return at >= 3 && Is(at - 1, ":") && Is(at - 2, ":") && IsName(at - 3) &&
           std_names_.count(Word(at - 3).word) > 0 && !Is(at + 1, ":");
  }
  // Used as a type or a function, not as a variable's name: "thread t(f)", "thread(f)", "async(f)",
  // "vector<thread>".
  bool IsUsedBare(size_t at) const {
    if (at == 0 || BelongsToSomething(at)) return false;
    if (IsName(at + 1) || (Is(at - 1, "<") && (Is(at + 1, ">") || Is(at + 1, ",")))) return true;
    if (Is(at + 1, "*") && IsName(at + 2) && (Is(at - 1, ";") || Is(at - 1, "{"))) return true;
    if (!Is(at + 1, "(") && !Is(at + 1, "{")) return false;
    return !IsName(at - 1) || Is(at - 1, "new") || Is(at - 1, "return") || Is(at - 1, "else") ||
           Is(at - 1, "do");
  }
  bool Applies(const Rule& rule, size_t at) const {
    if ((rule.gpu_only && !gpu_) || IsIncluded(at)) return false;
    switch (rule.seen) {
      case Rule::Seen::kName:
        return true;
      case Rule::Seen::kDriver:
        return true;
      case Rule::Seen::kStd:
        return IsInStd(at) || (std_is_open_ && IsUsedBare(at));
      case Rule::Seen::kAttribute:
        return IsAttribute(at);
      default:
        return Is(at + 1, "(") && !BelongsToSomething(at) && !IsDeclared(at) &&
               own_.count(Word(at).word) == 0 && !CallsHarmlessly(at);
    }
  }
  // syscall(SYS_futex, ...
  bool CallsHarmlessly(size_t at) const {
    return !gpu_ && Is(at, "syscall") && IsName(at + 2) && IsHarmlessCall(Word(at + 2).word) &&
           defined_.count(Word(at + 2).word) == 0 && (Is(at + 3, ",") || Is(at + 3, ")"));
  }
  // int clock_gettime(...) {, cudaError_t cudaEventElapsedTime(...) {
  bool StandsIn(size_t at) const {
    return IsNameOfOthers(Word(at).word) && IsDefinition(at) && IsOfC(at) && !IsStatic(at);
  }
  static bool IsNameOfOthers(absl::string_view name) {
    const auto upper = [&name](size_t i) {
      return name.size() > i && absl::ascii_isupper(static_cast<unsigned char>(name[i]));
    };
    const bool driver =
        (absl::StartsWith(name, "cu") && upper(2)) || (absl::StartsWith(name, "cuda") && upper(4));
    return driver || NamesOfOthers().count(name) > 0;
  }
  void Add(const char* what, absl::string_view word, const std::string& path, size_t at) {
    found_.try_emplace(what, Found{std::string(word), path, Word(at).line});
  }

  const bool gpu_;
  const std::vector<CodeWord>* words_ = nullptr;
  std::vector<bool> linkage_;
  std::set<std::string> names_;    // all that appear
  std::set<std::string> defined_;  // macros
  std::set<std::string> own_;      // ordinary names that the program gives to its own functions
  std::set<std::string> std_names_ = {"std"};
  bool std_is_open_ = false;     // using namespace std, in some file
  std::optional<Found> stream_;  // where one is made
  UnawaitedCopies copies_;
  std::map<std::string, Found> found_;  // by kind
};

// The first place of each kind.
std::vector<std::string> ReportedMarks(const v1::BuildReport& report) {
  std::map<absl::string_view, std::string> marks;
  for (const v1::Diagnostic& diagnostic : report.diagnostics()) {
    absl::string_view kind = diagnostic.message();
    if (!absl::ConsumePrefix(&kind, kMarkStart)) continue;
    marks.try_emplace(
        kind.substr(0, kind.find(':')),
        absl::StrCat(diagnostic.message(), " at ", diagnostic.file(), ":", diagnostic.line()));
  }
  std::vector<std::string> sorted;
  for (auto& [kind, mark] : marks) sorted.push_back(std::move(mark));
  return sorted;
}

// Marks of these files, read as C++.
std::vector<std::string> ScannedMarks(const std::vector<const v1::SourceFile*>& sources, bool gpu) {
  Scanner scanner(gpu);
  std::vector<std::vector<CodeWord>> files;
  for (const v1::SourceFile* file : sources) {
    files.push_back(CodeWords(file->content()));
    scanner.Learn(files.back());
  }
  for (size_t i = 0; i < sources.size(); ++i) scanner.Scan(sources[i]->path(), files[i]);
  return scanner.Marks();
}

// Returns true if files with this ending belong to a language that `scanner` reads.
bool IsScanned(absl::string_view path, SourceScanner scanner) {
  for (const LanguageFacts& language : Languages()) {
    if (language.scanner != scanner) continue;
    for (const auto* extensions : {&language.main_extensions, &language.more_extensions}) {
      for (const absl::string_view extension : *extensions) {
        if (absl::EndsWith(path, extension)) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> SourceMarks(const v1::Sources& sources, const v1::BuildReport& report) {
  const SourceScanner kind = FactsOf(sources.language()).scanner;
  std::vector<const v1::SourceFile*> scanned;
  bool gpu = kind == SourceScanner::kCuda;
  for (const v1::SourceFile& file : sources.files()) {
    const bool cpp = IsScanned(file.path(), SourceScanner::kCpp);
    const bool cuda = IsScanned(file.path(), SourceScanner::kCuda);
    if (kind == SourceScanner::kNone && !cpp && !cuda) continue;
    scanned.push_back(&file);
    gpu = gpu || (kind == SourceScanner::kNone && cuda && !cpp);
  }
  if (kind != SourceScanner::kNone) return ScannedMarks(scanned, gpu);
  // The builder's marks, plus those of files that the program builds itself.
  std::vector<std::string> marks = ReportedMarks(report);
  for (std::string& mark : ScannedMarks(scanned, gpu)) marks.push_back(std::move(mark));
  std::sort(marks.begin(), marks.end());
  return marks;
}

}  // namespace ksearch
