#ifndef KSEARCH_COMMON_CALL_TURNS_H_
#define KSEARCH_COMMON_CALL_TURNS_H_

#include <atomic>
#include <cstdint>

namespace ksearch {

// A page that a verifier and a runner on one machine's processors share. Through it the calls of a
// batch are released one by one (BatchRequest.in_turn), by processes that are awake: a message
// would cost several times as much as a short call. The candidate can write to this page as the
// runner can, so the verifier checks outputs and believes nothing that stands here.
struct CallTurns {
  static constexpr int64_t kBytes = 4096;

  // How many calls of the batch may have begun; written by the verifier. Apart from `returned`, so
  // that neither side's writes slow the other's.
  alignas(64) std::atomic<uint32_t> released;
  // How many have returned; written by the runner.
  alignas(64) std::atomic<uint32_t> returned;
};

static_assert(sizeof(CallTurns) <= CallTurns::kBytes);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_CALL_TURNS_H_
