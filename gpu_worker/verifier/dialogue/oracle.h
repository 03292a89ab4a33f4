#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ORACLE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ORACLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/rng.h"
#include "gpu_worker/verifier/byte_lru.h"
#include "gpu_worker/verifier/dialogue/runner_starter.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"

namespace ksearch {

// The shortest time that the reference took for one of these answers, of which there must be at
// least one.
absl::Duration ReferenceTime(const OracleEntries& oracles);

// How many calls to compare after they were made, for one of `sessions` sessions on a workload that
// share kLateOracleTime. A fraction is rounded at random.
int LateComparisons(const OracleEntries& oracles, int sessions, Rng* rng);

// The answers of a task's reference. The reference runs in its own runner, sandboxed like a
// candidate, but never while a candidate could read its outputs, which stay in this process.
// Entries are kept by (task, workload, seed, variant). Thread-compatible.
class Oracle {
 public:
  Oracle(RunnerStarter& starter, const BufferSetsFactory& allocate, const Clock& clock,
         int64_t cache_bytes)
      : starter_(starter), allocate_(allocate), clock_(clock), cache_(cache_bytes) {}

  // Answers to every variant in `variants`. FAILED_PRECONDITION if the reference fails, or answers
  // with a NaN: then the task is broken.
  absl::StatusOr<OracleEntries> Get(const ProgramImage& reference,
                                    const std::shared_ptr<const WorkloadCase>& workload,
                                    const std::vector<int64_t>& variants);

  // The same for variants that are needed only once: new answers are not cached.
  absl::StatusOr<OracleEntries> GetOnce(const ProgramImage& reference,
                                        const std::shared_ptr<const WorkloadCase>& workload,
                                        const std::vector<int64_t>& variants);

  // Answers to the gate's variants and to as many timed ones as kOracleTimePerWorkload and memory
  // allow: variants 0 .. n-1 with n > kGateVariants.
  absl::StatusOr<OracleEntries> GetForTiming(const ProgramImage& reference,
                                             const std::shared_ptr<const WorkloadCase>& workload);

  // How many answers of this size may be held at once: those of one workload may take as much
  // memory as the whole cache.
  int64_t MostAnswers(const OracleEntries& known) const;

  // Ends the reference's runner, if there is one. To be called before anything is timed.
  void Rest() { link_.reset(); }
  void DropCache() { cache_.Clear(); }
  // Drops the answers for a seed that will not be used again.
  void Forget(const Seed& seed);
  int64_t cached_bytes() const { return cache_.bytes(); }

 private:
  absl::StatusOr<OracleEntries> FindOrAnswer(const ProgramImage& reference,
                                             const std::shared_ptr<const WorkloadCase>& workload,
                                             const std::vector<int64_t>& variants, bool keep);
  absl::Status Answer(const ProgramImage& reference,
                      const std::shared_ptr<const WorkloadCase>& workload,
                      const std::vector<int64_t>& variants, bool keep, OracleEntries* entries);

  RunnerStarter& starter_;
  const BufferSetsFactory& allocate_;
  const Clock& clock_;
  ByteLru<const OracleEntry> cache_;
  std::unique_ptr<RunnerLink> link_;
  std::string linked_program_;  // SHA-256 of what link_ has loaded
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ORACLE_H_
