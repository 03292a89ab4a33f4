#include "gpu_worker/sandbox/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// A running process takes a signal within microseconds, one in the kernel at its next return.
constexpr absl::Duration kAskAgain = absl::Milliseconds(1);

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';  // as in /proc/PID/stat
  bool rests() const { return absl::StrContains("TtZX", absl::string_view(&state, 1)); }
};

std::optional<Process> ReadProcess(absl::string_view name) {
  Process process;
  if (!absl::SimpleAtoi(name, &process.pid)) return std::nullopt;
  const auto text = ReadFile(absl::StrCat("/proc/", name, "/stat"), 4096);
  if (!text.ok()) return std::nullopt;
  // "PID (name) STATE parent ...": a name may contain anything.
  const size_t end = text->rfind(") ");
  if (end == std::string::npos) return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(*text).substr(end + 2), absl::MaxSplits(' ', 2));
  if (fields.size() < 3 || fields[0].size() != 1 || !absl::SimpleAtoi(fields[1], &process.parent)) {
    return std::nullopt;
  }
  process.state = fields[0][0];
  return process;
}

// `root` first; empty if it is no child of this process.
std::vector<Process> Tree(pid_t root) {
  const std::optional<Process> first = ReadProcess(absl::StrCat(root));
  if (!first.has_value() || first->parent != ::getpid()) return {};
  std::multimap<pid_t, Process> by_parent;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (folder == nullptr) return {};
  while (const dirent* entry = ::readdir(folder.get())) {
    if (const auto process = ReadProcess(entry->d_name))
      by_parent.emplace(process->parent, *process);
  }
  std::vector<Process> tree = {*first};
  for (size_t i = 0; i < tree.size(); ++i) {
    const auto [begin, end] = by_parent.equal_range(tree[i].pid);
    for (auto child = begin; child != end; ++child) tree.push_back(child->second);
  }
  return tree;
}

}  // namespace

bool StopTree(pid_t root, absl::Duration most) {
  const absl::Time deadline = Clock::Real().SteadyNow() + most;
  while (true) {
    const std::vector<Process> tree = Tree(root);
    bool all_rest = true;
    for (const Process& process : tree) {
      if (process.rests()) continue;
      all_rest = false;
      ::kill(process.pid, SIGSTOP);
    }
    // A process that was still running when the list was read may have created another since.
    if (all_rest) return true;
    if (Clock::Real().SteadyNow() >= deadline) return false;
    absl::SleepFor(kAskAgain);
  }
}

void ContinueTree(pid_t root) {
  for (const Process& process : Tree(root)) ::kill(process.pid, SIGCONT);
}

}  // namespace ksearch
