#ifndef KSEARCH_TESTS_GPU_WORKER_VERIFIER_REAL_VERIFIER_H_
#define KSEARCH_TESTS_GPU_WORKER_VERIFIER_REAL_VERIFIER_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/fakes/plain_sandbox.h"

namespace ksearch {

// A verifier with real runner processes, without a sandbox. A small cache size keeps the number of
// buffer sets low.
class RealVerifier {
 public:
  explicit RealVerifier(std::function<HostPeaks()> measure_host = nullptr,
                        int64_t oracle_cache_bytes = kOracleCacheBytes)
      : starter_(sandbox_, std::string(std::getenv("KSEARCH_BIN_DIR")) + "/ksearch-runner", {},
                 Clock::Real()),
        bench_(starter_, MemfdBufferSets::Create, Clock::Real(),
               Options(std::move(measure_host), oracle_cache_bytes)) {}

  v1::Verdict Verify(const v1::VerifierRequest& request) {
    JobVerifier verifier(bench_, [](const v1::VerifierReply::Progress&) {});
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    EXPECT_TRUE(verdict.ok()) << verdict.status();
    return verdict.ok() ? *std::move(verdict) : v1::Verdict();
  }
  int64_t oracle_bytes() { return bench_.oracle().cached_bytes(); }
  absl::Status Refuse(const v1::VerifierRequest& request) {
    JobVerifier verifier(bench_, [](const v1::VerifierReply::Progress&) {});
    return verifier.Verify(request).status();
  }

 private:
  static Bench::Options Options(std::function<HostPeaks()> measure_host,
                                int64_t oracle_cache_bytes) {
    Bench::Options options;
    options.oracle_cache_bytes = oracle_cache_bytes;
    options.measure_host = std::move(measure_host);
    options.last_level_cache_bytes = 256 << 10;
    return options;
  }

  PlainSandbox sandbox_;
  RunnerStarter starter_;
  Bench bench_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_VERIFIER_REAL_VERIFIER_H_
