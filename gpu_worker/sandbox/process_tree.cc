#include "gpu_worker/sandbox/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/textproto.h"
#include "common/thread_stat.h"

namespace ksearch {
namespace {

// A running process takes a signal within microseconds, one in the kernel at its next return.
constexpr absl::Duration kAskAgain = absl::Milliseconds(1);

struct Process {
  pid_t pid = 0;
  ThreadStat stat;
};

std::optional<Process> ReadProcess(absl::string_view name) {
  pid_t pid = 0;
  if (!absl::SimpleAtoi(name, &pid)) return std::nullopt;
  const auto text = ReadFile(absl::StrCat("/proc/", name, "/stat"), 4096);
  const auto stat = text.ok() ? ParseThreadStat(*text) : std::nullopt;
  if (!stat.has_value()) return std::nullopt;
  return Process{pid, *stat};
}

// `root` first; empty if it is no child of this process.
std::vector<Process> Tree(pid_t root) {
  const std::optional<Process> first = ReadProcess(absl::StrCat(root));
  if (!first.has_value() || first->stat.parent != ::getpid()) return {};
  std::multimap<pid_t, Process> by_parent;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (folder == nullptr) return {};
  while (const dirent* entry = ::readdir(folder.get())) {
    if (const auto process = ReadProcess(entry->d_name))
      by_parent.emplace(process->stat.parent, *process);
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
      if (process.stat.stopped_or_ended()) continue;
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
