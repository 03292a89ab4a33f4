#include "gpu_worker/build/python/interpreter.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "gpu_worker/build/python/python_scripts.h"

namespace ksearch {
namespace {

// Allows for torch on a cold disk or over a network.
constexpr absl::Duration kDescribeTime = absl::Minutes(3);
constexpr size_t kMaxPrintedBytes = 256 << 10;
constexpr size_t kMaxVersionBytes = 100;
constexpr size_t kMaxFolders = 1000;
constexpr size_t kMaxErrorBytes = 500;

std::string HowToGetTorch(absl::string_view path) {
  return absl::StrCat("install torch for it (`", path,
                      " -m pip install torch`; on Debian 12 `deploy/install_deps.sh "
                      "--with-python`), or name an interpreter that has it: toolchains { "
                      "interpreter: ... }. Packages of a single user do not count");
}

// Printable ASCII, shortened.
std::string Clean(absl::string_view text, size_t limit) {
  std::string clean(text.substr(0, limit));
  std::replace_if(
      clean.begin(), clean.end(),
      [](char c) { return !absl::ascii_isprint(static_cast<unsigned char>(c)); }, '?');
  return clean;
}

bool IsWithin(absl::string_view path, absl::string_view folder) {
  return path == folder || absl::StartsWith(path, absl::StrCat(folder, "/"));
}

// Returns true if the sandbox shows the path anyway.
bool IsOfTheSystem(const std::string& path) {
  for (const char* folder : {"/usr", "/lib", "/lib64", "/bin"}) {
    if (IsWithin(path, folder)) return true;
  }
  return false;
}

// Folders of the whole machine or of a user: not an environment, and full of unrelated files.
bool IsTooWide(const std::string& path) {
  static const auto* const wide =
      new std::set<std::string>{"/",     "/dev",  "/etc", "/home", "/media", "/mnt", "/opt",
                                "/proc", "/root", "/run", "/srv",  "/sys",   "/tmp", "/var"};
  return wide->count(path) > 0 ||
         (absl::StartsWith(path, "/home/") && std::count(path.begin(), path.end(), '/') == 2);
}

absl::StatusOr<std::vector<std::string>> FoldersToShow(const std::string& interpreter,
                                                       const std::set<std::string>& named) {
  std::vector<std::string> folders;
  // In this order a folder comes before what lies within.
  for (const std::string& path : named) {
    if (IsTooWide(path)) {
      return absl::FailedPreconditionError(
          absl::StrCat(interpreter, " has packages directly in ", path,
                       ", which would have to be shown to every candidate: make a virtual "
                       "environment in its own folder and name its bin/python3 as "
                       "toolchains { interpreter: ... }"));
    }
    if (IsOfTheSystem(path) ||
        std::any_of(folders.begin(), folders.end(),
                    [&path](const std::string& shown) { return IsWithin(path, shown); })) {
      continue;
    }
    folders.push_back(path);
  }
  return folders;
}

// "3.11.2".
bool IsOldPython(absl::string_view version) {
  const std::vector<absl::string_view> parts = absl::StrSplit(version, '.');
  int major = 0, minor = 0;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &major) ||
      !absl::SimpleAtoi(parts[1], &minor)) {
    return true;
  }
  return major < 3 || (major == 3 && minor < 9);
}

}  // namespace

std::string VersionsOf(const Interpreter& interpreter) {
  std::string text = absl::StrCat("python ", interpreter.python, ", torch ", interpreter.torch);
  for (const auto& [name, version] : {std::make_pair("triton", interpreter.triton),
                                      std::make_pair("tvm-ffi", interpreter.tvm_ffi),
                                      std::make_pair("tilelang", interpreter.tilelang)}) {
    if (!version.empty()) absl::StrAppend(&text, ", ", name, " ", version);
  }
  return text;
}

absl::Status CheckGpuParts(const Interpreter& interpreter) {
  std::vector<std::string> missing;
  if (interpreter.torch_cuda.empty()) {
    missing.push_back(absl::StrCat("torch ", interpreter.torch,
                                   " was built without CUDA (install one from "
                                   "download.pytorch.org/whl/cu130 or the like)"));
  }
  if (interpreter.triton.empty()) {
    missing.push_back(
        absl::StrCat("it has no triton (`", interpreter.path, " -m pip install triton`)"));
  }
  if (interpreter.headers.empty()) {
    missing.push_back(
        "Python.h is missing, which Triton's launchers include (Debian: python3-dev)");
  }
  if (interpreter.c_compiler.empty()) {
    missing.push_back("/usr/bin has neither gcc nor clang, which build Triton's launchers");
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      interpreter.path, " cannot run programs on GPUs: ", absl::StrJoin(missing, "; ")));
}

absl::StatusOr<std::string> FindInterpreter(const std::string& configured,
                                            const std::string& virtual_environment) {
  const std::string wanted = !configured.empty()           ? configured
                             : virtual_environment.empty() ? "python3"
                                                           : virtual_environment + "/bin/python3";
  const absl::string_view source = !configured.empty()           ? "interpreter"
                                   : virtual_environment.empty() ? "no interpreter is named"
                                                                 : "VIRTUAL_ENV";
  absl::StatusOr<std::string> found = FindOnPath(wanted);
  if (!found.ok()) {
    return absl::NotFoundError(absl::StrCat(
        source, ": ", found.status().message(),
        "; install Python 3.9 or newer with torch (on Debian 12 `deploy/install_deps.sh "
        "--with-python`), or correct toolchains { interpreter: ... }"));
  }
  return std::filesystem::absolute(*found).lexically_normal().string();
}

absl::StatusOr<Interpreter> ParseInterpreter(const std::string& path, absl::string_view printed) {
  std::map<std::string, std::string> facts;
  std::set<std::string> named;
  for (absl::string_view line : absl::StrSplit(printed.substr(0, kMaxPrintedBytes), '\n')) {
    const std::pair<absl::string_view, absl::string_view> fact =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    if (fact.first != "folder") {
      facts.emplace(std::string(fact.first), std::string(fact.second));
    } else if (absl::StartsWith(fact.second, "/") && named.size() < kMaxFolders &&
               fact.second.find('\0') == absl::string_view::npos) {
      std::string folder =
          std::filesystem::path(std::string(fact.second)).lexically_normal().string();
      while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
      named.insert(std::move(folder));
    }
  }
  Interpreter interpreter;
  interpreter.path = path;
  interpreter.python = Clean(facts["python"], kMaxVersionBytes);
  interpreter.torch = Clean(facts["torch"], kMaxVersionBytes);
  interpreter.triton = Clean(facts["triton"], kMaxVersionBytes);
  interpreter.tvm_ffi = Clean(facts["tvm-ffi"], kMaxVersionBytes);
  interpreter.tilelang = Clean(facts["tilelang"], kMaxVersionBytes);
  interpreter.torch_cuda = Clean(facts["torch_cuda"], kMaxVersionBytes);
  interpreter.headers = facts["headers"];
  interpreter.c_compiler = facts["c_compiler"];
  if (interpreter.python.empty()) {
    return absl::InternalError(absl::StrCat(path, " did not say which Python it is"));
  }
  if (facts["implementation"] != "cpython" || IsOldPython(interpreter.python)) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is ", Clean(facts["implementation"], kMaxVersionBytes), " ", interpreter.python,
        "; programs in Python need CPython 3.9 or newer: name one "
        "as toolchains { interpreter: ... }"));
  }
  if (interpreter.torch.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " (Python ", interpreter.python, ") cannot import torch: ",
                     Clean(facts["torch_error"], kMaxErrorBytes), "; ", HowToGetTorch(path)));
  }
  ASSIGN_OR_RETURN(interpreter.folders, FoldersToShow(path, named));
  return interpreter;
}

absl::StatusOr<Interpreter> DescribeInterpreter(const std::string& path) {
  SubprocessOptions options;
  options.argv = {path, "-I", "-B", "-c", std::string(DescribeInterpreterScript())};
  options.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/tmp"}};
  ASSIGN_OR_RETURN(const CommandOutput output,
                   RunCommand(std::move(options), kDescribeTime, kMaxPrintedBytes));
  if (output.timed_out) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " did not import torch within ", absl::FormatDuration(kDescribeTime)));
  }
  if (output.exit.signaled || output.exit.code != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " does not run: it ended with ", output.exit.signaled ? "signal " : "status ",
        output.exit.code, ": ", Clean(absl::StripAsciiWhitespace(output.err), kMaxErrorBytes)));
  }
  return ParseInterpreter(path, output.out);
}

}  // namespace ksearch
