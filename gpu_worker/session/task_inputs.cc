#include "gpu_worker/session/task_inputs.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/log.h"
#include "common/recorded_inputs.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// Consecutive fruitless tries before the lease is returned.
constexpr int kTries = 5;
constexpr absl::Duration kPause = absl::Milliseconds(500);

}  // namespace

std::string InputsFolderOf(const std::string& state_dir) {
  return absl::StrCat(state_dir, "/inputs");
}

absl::StatusOr<TaskInputs::Hold> TaskInputs::Get(const v1::Task& task, std::stop_token stop) {
  const std::set<std::string> names = RecordedInputsOf(task);
  if (names.empty()) return Hold();
  MutexLock one(&fetching_);
  {
    MutexLock lock(&mu_);
    for (const std::string& name : names) ++users_[name];
  }
  // From here on they are held, whatever happens.
  Hold hold(nullptr, [this, names](std::nullptr_t) { Release(names); });
  bool brought = false;
  for (const std::string& name : names) {
    if (folder_.Use(name).ok()) continue;
    RETURN_IF_ERROR(Bring(name, stop));
    brought = true;
  }
  if (!brought) return hold;  // the folder has not grown
  std::set<std::string> in_use;
  {
    MutexLock lock(&mu_);
    for (const auto& [name, users] : users_) in_use.insert(name);
  }
  if (const absl::Status collected = folder_.Collect(most_bytes_, in_use); !collected.ok()) {
    LOG(WARNING) << "msg=\"old inputs stay\" error=\"" << collected.message() << "\"";
  }
  return hold;
}

absl::Status TaskInputs::Bring(const std::string& sha256, const std::stop_token& stop) {
  absl::Status last;
  for (int tries = 0; tries < kTries; ++tries) {
    if (stop.stop_requested()) return absl::CancelledError("cancelled");
    if (tries > 0) absl::SleepFor(kPause);
    ASSIGN_OR_RETURN(const int64_t begun, folder_.Begun(sha256));
    last = fetch_(sha256, begun, [&](absl::string_view piece) {
      if (stop.stop_requested()) return absl::CancelledError("cancelled");
      return folder_.Append(sha256, piece);
    });
    if (last.ok()) return folder_.Finish(sha256);
    if (stop.stop_requested()) return absl::CancelledError("cancelled");
    // Errors that another try will not change.
    if (absl::IsNotFound(last) || absl::IsPermissionDenied(last) ||
        absl::IsResourceExhausted(last)) {
      break;
    }
    ASSIGN_OR_RETURN(const int64_t now, folder_.Begun(sha256));
    if (now > begun) tries = 0;
  }
  return Annotate(last, absl::StrCat("fetching input ", sha256));
}

void TaskInputs::Release(const std::set<std::string>& names) {
  MutexLock lock(&mu_);
  for (const std::string& name : names) {
    const auto users = users_.find(name);
    if (users != users_.end() && --users->second == 0) users_.erase(users);
  }
}

}  // namespace ksearch
