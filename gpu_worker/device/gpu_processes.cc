#include "gpu_worker/device/gpu_processes.h"

#include <unistd.h>

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int kMostAncestors = 64;

struct ProcessLine {
  std::string name;
  int parent = 0;
};

// /proc/<pid>/stat: "pid (name) state parent ..."; the name may hold anything.
std::optional<ProcessLine> ReadProcess(const std::string& proc, int pid) {
  const auto text = ReadFile(absl::StrCat(proc, "/", pid, "/stat"), 4096);
  if (!text.ok()) return std::nullopt;
  const size_t open = text->find('('), close = text->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  const std::vector<std::string> rest =
      absl::StrSplit(text->substr(close + 1), ' ', absl::SkipEmpty());
  ProcessLine line;
  line.name = text->substr(open + 1, close - open - 1);
  if (rest.size() < 2 || !absl::SimpleAtoi(rest[1], &line.parent)) return std::nullopt;
  return line;
}

// The account that the process runs as; nullopt: unknown. Not the owner of its folder in /proc,
// which is root for a process that has changed its account.
std::optional<int> AccountOf(const std::string& proc, int pid) {
  const auto text = ReadFile(absl::StrCat(proc, "/", pid, "/status"), 64 << 10);
  if (!text.ok()) return std::nullopt;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (!absl::StartsWith(line, "Uid:")) continue;
    // Real, effective, saved and file-system uid.
    const std::vector<std::string> uids =
        absl::StrSplit(line.substr(4), absl::ByAnyChar("\t "), absl::SkipEmpty());
    int uid = 0;
    if (uids.size() >= 2 && absl::SimpleAtoi(uids[1], &uid)) return uid;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> ForeignProcesses(const std::vector<int>& pids,
                                          const ForeignProcessRules& rules) {
  std::vector<std::string> foreign;
  for (const int pid : pids) {
    const std::optional<ProcessLine> process = ReadProcess(rules.proc, pid);
    if (!process.has_value()) {
      if (rules.unseen) foreign.push_back(absl::StrCat(pid, " (of another container)"));
      continue;
    }
    bool begun_here = false, of_a_worker = false;
    int ancestor = pid;
    for (int i = 0; i < kMostAncestors && ancestor > 1 && !begun_here; ++i) {
      begun_here = ancestor == ::getpid();
      const std::optional<ProcessLine> line = ReadProcess(rules.proc, ancestor);
      if (!line.has_value()) break;
      of_a_worker |= absl::StartsWith(line->name, "ksearch");
      ancestor = line->parent;
    }
    if (begun_here) continue;
    if (!of_a_worker) {
      foreign.push_back(absl::StrCat(pid, " (", process->name, ")"));
    } else if (rules.other_accounts &&
               AccountOf(rules.proc, pid) != static_cast<int>(::geteuid())) {
      foreign.push_back(absl::StrCat(
          pid, " (", process->name,
          " of a worker of another account; to take turns, give both workers the same lock_path)"));
    }
  }
  return foreign;
}

}  // namespace ksearch
