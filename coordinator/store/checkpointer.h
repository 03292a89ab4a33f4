#ifndef KSEARCH_COORDINATOR_STORE_CHECKPOINTER_H_
#define KSEARCH_COORDINATOR_STORE_CHECKPOINTER_H_

#include <memory>
#include <thread>

#include "common/mutex.h"
#include "coordinator/store/database.h"

namespace ksearch {

// Copies the write-ahead log into the database file on its own thread and connection, so that
// commits do not wait for it. By default SQLite copies within a commit, every 1,000 pages; on a
// busy disk all commits behind that one wait for hundreds of milliseconds.
//
// A log restarts only once all of it is in the file, which never happens while commits continue.
// When the log is large and little of it is left to copy, the committing thread therefore copies
// the rest itself.
class Checkpointer {
 public:
  // Number of pages from which on the log should restart.
  static constexpr int kLargeLogPages = 8192;

  // `database`: a writable connection for the thread. It must be closed after the writer's
  // connection; closing it copies the rest of the log into the file.
  explicit Checkpointer(std::unique_ptr<Database> database);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Must be called after each commit of `writing`, on the thread that committed. `log_pages`:
  // number of pages in the log. Always call it on the same thread.
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
  std::thread thread_;  // last: starts when all other members exist
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_CHECKPOINTER_H_
