#include "coordinator/store/checkpointer.h"

#include <pthread.h>

#include <utility>

#include "common/log.h"

namespace ksearch {
namespace {

// SQLite's own default.
constexpr int kPagesAtOnce = 1000;
// This little is copied within a commit, in a few milliseconds.
constexpr int kFewPages = 256;

}  // namespace

Checkpointer::Checkpointer(std::unique_ptr<Database> database)
    : database_(std::move(database)), thread_([this] { Loop(); }) {
  pthread_setname_np(thread_.native_handle(), "checkpointer");
}

Checkpointer::~Checkpointer() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Checkpointer::LogGrew(Database& writing, int log_pages) {
  {
    MutexLock lock(&mu_);
    if (log_pages < log_pages_) copied_pages_ = 0;  // the log started over
    log_pages_ = log_pages;
    if (log_pages - copied_pages_ >= kPagesAtOnce && !asked_) {
      asked_ = true;
      changed_.NotifyAll();
    }
    if (log_pages >= 2 * kLargeLogPages) {
      // The thread does not keep up: wait, so that the log stops growing.
      while (asked_) changed_.Wait(&mu_);
    } else if (log_pages < kLargeLogPages || log_pages - copied_pages_ > kFewPages) {
      return;
    }
  }
  // The thread may be copying just now; then a later commit tries again.
  const auto copied = writing.CopyLog();
  if (!copied.ok()) return;
  MutexLock lock(&mu_);
  copied_pages_ = *copied;
}

void Checkpointer::Loop() {
  while (true) {
    {
      MutexLock lock(&mu_);
      while (!asked_ && !closing_) changed_.Wait(&mu_);
      if (closing_) return;
    }
    const auto copied = database_->CopyLog();
    if (!copied.ok() && !absl::IsUnavailable(copied.status())) {
      LOG(WARNING) << "msg=\"the log is not copied\" error=\"" << copied.status().message() << "\"";
    }
    MutexLock lock(&mu_);
    asked_ = false;
    changed_.NotifyAll();
    // Fewer pages than copied: the log has started over since.
    if (copied.ok() && *copied <= log_pages_) copied_pages_ = *copied;
  }
}

}  // namespace ksearch
