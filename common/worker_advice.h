#ifndef KSEARCH_COMMON_WORKER_ADVICE_H_
#define KSEARCH_COMMON_WORKER_ADVICE_H_

namespace ksearch {

// Advice that a coordinator appends when no worker can do a job. The command line removes it if the
// worker is its own (`--local`).
inline constexpr char kStartWorkerAdvice[] =
    "; `ksearch workers` lists who is there; start one: ksearch-worker --coordinator ADDRESS";

}  // namespace ksearch

#endif  // KSEARCH_COMMON_WORKER_ADVICE_H_
