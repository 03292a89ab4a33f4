#ifndef KSEARCH_COORDINATOR_STORE_CHECKPOINTER_H_
#define KSEARCH_COORDINATOR_STORE_CHECKPOINTER_H_

#include <memory>
#include <thread>

#include "common/mutex.h"
#include "coordinator/store/database.h"

namespace ksearch {

// Copies the write-ahead log into the database file on a thread and a connection of its own, so
// that commits do not wait for it. SQLite's own way is to do that within a commit, every 1,000
// pages; on a busy disk all commits behind that one wait for hundreds of milliseconds.
//
// A log starts over only when all of it is in the file, never during commits. Once
// it is large, the committing thread therefore copies the rest itself, as soon as that is little.
class Checkpointer {
 public:
  // A log of this many pages should start over.
  static constexpr int kLargeLogPages = 8192;

  // `database`: a connection that may write, for the thread. It must be closed after the writer's,
  // and closing it folds what is left of the log into the file.
  explicit Checkpointer(std::unique_ptr<Database> database);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // After each commit of `writing`, on its thread: the log now has this many pages. One thread.
  void LogGrew(Database& writing, int log_pages);

 private:
  void Loop();

  const std::unique_ptr<Database> database_;  // used by thread_ only
  Mutex mu_;
  CondVar changed_;
  int log_pages_ ABSL_GUARDED_BY(mu_) = 0;
  int copied_pages_ ABSL_GUARDED_BY(mu_) = 0;
  bool asked_ ABSL_GUARDED_BY(mu_) = false;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_CHECKPOINTER_H_
