#ifndef KSEARCH_COORDINATOR_STORE_STORE_WRITER_H_
#define KSEARCH_COORDINATOR_STORE_STORE_WRITER_H_

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/mutex.h"
#include "coordinator/store/database.h"

namespace ksearch {

// The only thread that writes. Operations posted while a transaction is being committed form the
// next one (group commit): BEGIN IMMEDIATE, each operation in its own savepoint so that a failing
// one does not affect the others, COMMIT, then the completions. Thread-safe.
class StoreWriter {
 public:
  // Runs on the writer thread inside a transaction. It may run more than once, because each
  // operation of a group that could not be committed is retried alone; it must therefore reset its
  // outputs each time.
  using Operation = std::function<absl::Status(Database& database)>;
  // Runs on the writer thread after the commit. Must not block.
  using Completion = absl::AnyInvocable<void(absl::Status status)>;

  explicit StoreWriter(std::unique_ptr<Database> database);
  // Commits the posted operations, then joins the thread. Later posts complete at once with
  // UNAVAILABLE.
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  void Post(Operation operation, Completion done);
  // Posts the operation and waits for the commit. If it succeeds, `committed` runs on the writer
  // thread before Run returns. Must not be called from a completion, which would wait for itself.
  absl::Status Run(Operation operation, std::function<void()> committed = nullptr);

 private:
  struct Posted {
    Operation operation;
    Completion done;
    absl::Status status;
  };

  void Loop();
  void CommitGroup(absl::Span<Posted> group);
  // On an error, the database contains nothing of the group.
  absl::Status TryCommit(absl::Span<Posted> group);

  const std::unique_ptr<Database> database_;  // used by thread_ only
  Mutex mu_;
  CondVar posted_;
  std::vector<Posted> queue_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: starts when all other members exist
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_STORE_WRITER_H_
