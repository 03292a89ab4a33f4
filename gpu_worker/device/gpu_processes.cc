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

}  // namespace

std::vector<std::string> ForeignProcesses(const std::vector<int>& pids, bool unseen_too,
                                          const std::string& proc) {
  std::vector<std::string> foreign;
  for (const int pid : pids) {
    const std::optional<ProcessLine> process = ReadProcess(proc, pid);
    if (!process.has_value()) {
      if (unseen_too) foreign.push_back(absl::StrCat(pid, " (of another container)"));
      continue;
    }
    bool ours = absl::StartsWith(process->name, "ksearch");
    int ancestor = pid;
    for (int i = 0; i < kMostAncestors && ancestor > 1 && !ours; ++i) {
      ours = ancestor == ::getpid();
      const std::optional<ProcessLine> line = ReadProcess(proc, ancestor);
      if (!line.has_value()) break;
      ancestor = line->parent;
    }
    if (!ours) foreign.push_back(absl::StrCat(pid, " (", process->name, ")"));
  }
  return foreign;
}

}  // namespace ksearch
