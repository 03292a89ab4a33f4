#include "gpu_worker/verifier/dialogue/runner_reserve.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/dialogue/program_slot.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

// A search's usual kinds: of the candidate the warm stage's and the judged one, of the reference
// and of the baseline.
constexpr size_t kKinds = 4;
// A start takes longer than a job, so the job after the next may need a runner soon, too.
constexpr int kEach = 2;

}  // namespace

absl::StatusOr<std::unique_ptr<RunnerReserve>> RunnerReserve::Create(Sandbox& sandbox,
                                                                     const std::string& folder,
                                                                     size_t most,
                                                                     const Clock& clock) {
  std::error_code error;
  const std::string absolute = fs::absolute(folder, error).lexically_normal().string();
  if (!error) fs::create_directories(absolute, error);
  if (error || ::access(absolute.c_str(), W_OK) != 0) {
    return absl::UnavailableError(absl::StrCat(absolute, " is not writable"));
  }
  std::vector<fs::path> left;
  for (const auto& one : fs::directory_iterator(absolute, error)) left.push_back(one.path());
  std::error_code ignored;
  for (const fs::path& path : left) fs::remove_all(path, ignored);
  return std::unique_ptr<RunnerReserve>(new RunnerReserve(sandbox, absolute, most, clock));
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerReserve::Launch(const Kind& kind) {
  ASSIGN_OR_RETURN(std::shared_ptr<ProgramSlot> slot, ProgramSlot::Make(folder_, kind.writable));
  SandboxSpec spec = kind.spec;
  spec.binds.push_back({slot->path(), ProgramImage::kShownAs, false, false});
  if (!kind.writable.empty()) {
    // Behind the folder, a part of which becomes writable.
    spec.binds.push_back({absl::StrCat(slot->path(), "/", kind.writable),
                          absl::StrCat(ProgramImage::kShownAs, "/", kind.writable), true, false});
  }
  return RunnerLink::Launch(sandbox_, std::move(spec), clock_, std::move(slot));
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerReserve::Take(const Kind& kind,
                                                                const ProgramImage& program) {
  Remember(kind);
  while (true) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& one) { return one.kind == kind; });
    const bool waited = found != waiting_.end();
    std::unique_ptr<RunnerLink> link;
    if (waited) {
      link = std::move(found->link);
      waiting_.erase(found);
    } else {
      ASSIGN_OR_RETURN(link, Launch(kind));
    }
    absl::Status begun = link->AwaitReady();
    if (begun.ok()) {
      // Before BEGIN, after which Triton looks for what was compiled.
      RETURN_IF_ERROR(link->folder()->Fill(program));
      begun = link->Begin();
    }
    if (begun.ok()) return link;
    if (!waited) return begun;
    LOG(WARNING) << "msg=\"a runner in reserve has ended\" error=\"" << begun.message() << "\"";
  }
}

int RunnerReserve::Count(const Kind& kind) const {
  return static_cast<int>(std::count_if(waiting_.begin(), waiting_.end(),
                                        [&](const Waiting& one) { return one.kind == kind; }));
}

void RunnerReserve::Foresee(const Kind& kind) {
  Remember(kind);
  if (!Holds(kind)) Start(kind);
}

void RunnerReserve::Fill() {
  DropDead();
  for (int each = 1; each <= kEach; ++each) {
    for (const Kind& kind : wanted_) {
      if (waiting_.size() >= most_) return;
      if (Count(kind) < each) Start(kind);
    }
  }
}

void RunnerReserve::Settle() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const absl::Status ready = at->link->AwaitReady();
    if (!ready.ok()) {
      LOG(WARNING) << "msg=\"a runner in reserve has ended\" error=\"" << ready.message() << "\"";
    }
    at = ready.ok() ? std::next(at) : waiting_.erase(at);
  }
}

void RunnerReserve::Start(const Kind& kind) {
  if (most_ == 0) return;
  if (waiting_.size() >= most_) {
    // Drops the one that nobody has asked for for the longest time.
    const auto age = [this](const Waiting& one) {
      return std::distance(wanted_.begin(), std::find(wanted_.begin(), wanted_.end(), one.kind));
    };
    waiting_.erase(
        std::max_element(waiting_.begin(), waiting_.end(),
                         [&](const Waiting& a, const Waiting& b) { return age(a) < age(b); }));
  }
  auto link = Launch(kind);
  if (link.ok()) {
    waiting_.push_back({kind, *std::move(link)});
  } else {
    // The caller that takes one gets the error.
    LOG(WARNING) << "msg=\"no runner in reserve\" error=\"" << link.status().message() << "\"";
  }
}

void RunnerReserve::DropDead() {
  waiting_.remove_if([](const Waiting& one) { return one.link->HungUp(); });
}

void RunnerReserve::Remember(const Kind& kind) {
  wanted_.remove(kind);
  wanted_.push_front(kind);
  if (wanted_.size() > kKinds) wanted_.pop_back();
}

}  // namespace ksearch
