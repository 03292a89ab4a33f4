#include "coordinator/store/store_writer.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// Beyond a few hundred rows a larger group saves nothing (a commit costs about 100 us, a row
// 25 us); it only makes the first row wait longer.
constexpr size_t kMaxGroup = 512;

}  // namespace

StoreWriter::StoreWriter(std::unique_ptr<Database> database)
    : database_(std::move(database)), thread_([this] { Loop(); }) {
  pthread_setname_np(thread_.native_handle(), "store-writer");
}

StoreWriter::~StoreWriter() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
  }
  posted_.NotifyAll();
  thread_.join();
}

void StoreWriter::Post(Operation operation, Completion done) {
  {
    MutexLock lock(&mu_);
    if (!closing_) {
      queue_.push_back({std::move(operation), std::move(done), absl::OkStatus()});
      posted_.NotifyOne();
      return;
    }
  }
  done(absl::UnavailableError("the store is closing"));
}

absl::Status StoreWriter::Run(Operation operation, std::function<void()> committed) {
  CHECK(std::this_thread::get_id() != thread_.get_id());
  struct Wait {
    Mutex mu;
    CondVar finished;
    bool done ABSL_GUARDED_BY(mu) = false;
    absl::Status status ABSL_GUARDED_BY(mu);
  };
  // Shared by the caller and the completion, which may still hold the lock when the caller returns.
  auto wait = std::make_shared<Wait>();
  Post(std::move(operation), [wait, committed = std::move(committed)](absl::Status status) {
    if (status.ok() && committed) committed();
    MutexLock lock(&wait->mu);
    wait->status = std::move(status);
    wait->done = true;
    wait->finished.NotifyAll();
  });
  MutexLock lock(&wait->mu);
  while (!wait->done) wait->finished.Wait(&wait->mu);
  return std::move(wait->status);  // the completion's thread no longer uses it
}

void StoreWriter::Loop() {
  while (true) {
    std::vector<Posted> group;
    {
      MutexLock lock(&mu_);
      while (queue_.empty() && !closing_) posted_.Wait(&mu_);
      if (queue_.empty()) return;
      if (queue_.size() <= kMaxGroup) {
        group.swap(queue_);
      } else {
        const auto end = queue_.begin() + kMaxGroup;
        group.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
        queue_.erase(queue_.begin(), end);
      }
    }
    CommitGroup(absl::MakeSpan(group));
    for (Posted& posted : group) posted.done(std::move(posted.status));
  }
}

void StoreWriter::CommitGroup(absl::Span<Posted> group) {
  const absl::Status status = TryCommit(group);
  if (status.ok()) return;
  if (absl::IsUnavailable(status)) {
    // Another process holds the file: each operation alone would wait as long as the group did.
    LOG(ERROR) << "msg=\"nothing written\" operations=" << group.size() << " error=\""
               << status.message() << "\"";
    for (Posted& posted : group) posted.status = absl::UnavailableError(status.message());
    return;
  }
  if (group.size() > 1) {
    // One operation may have been too large for the rest of the disk: try each alone.
    for (Posted& posted : group) CommitGroup(absl::MakeSpan(&posted, 1));
    return;
  }
  LOG(ERROR) << "msg=\"nothing written\" error=\"" << status.message() << "\"";
  group.front().status = status;
}

absl::Status StoreWriter::TryCommit(absl::Span<Posted> group) {
  // A rollback that failed (I/O error) leaves the connection inside its old transaction.
  if (database_->in_transaction()) RETURN_IF_ERROR(database_->Prepare("ROLLBACK").Run());
  RETURN_IF_ERROR(database_->Prepare("BEGIN IMMEDIATE").Run());
  absl::Status status;
  for (Posted& posted : group) {
    status = database_->Prepare("SAVEPOINT operation").Run();
    if (!status.ok()) break;
    posted.status = posted.operation(*database_);
    if (!database_->in_transaction()) {  // SQLite gave up the whole group
      return posted.status.ok() ? absl::InternalError("transaction lost without an error")
                                : posted.status;
    }
    if (!posted.status.ok()) {
      status = database_->Prepare("ROLLBACK TO operation").Run();
      if (!status.ok()) break;
    }
    status = database_->Prepare("RELEASE operation").Run();
    if (!status.ok()) break;
  }
  if (status.ok()) status = database_->Prepare("COMMIT").Run();
  if (!status.ok() && database_->in_transaction()) {
    database_->Prepare("ROLLBACK").Run().IgnoreError();
  }
  return status;
}

}  // namespace ksearch
