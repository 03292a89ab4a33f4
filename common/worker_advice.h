#ifndef KSEARCH_COMMON_WORKER_ADVICE_H_
#define KSEARCH_COMMON_WORKER_ADVICE_H_

namespace ksearch {

// What a coordinator adds when no worker can do a job. The command line leaves it out where the
// worker is its own (`--local`).
inline constexpr char kStartWorkerAdvice[] =
    "; `ksearch workers` lists who is there; start one: ksearch-worker --coordinator ADDRESS";

}  // namespace ksearch

#endif  // KSEARCH_COMMON_WORKER_ADVICE_H_
