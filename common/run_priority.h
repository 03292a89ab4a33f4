#ifndef KSEARCH_COMMON_RUN_PRIORITY_H_
#define KSEARCH_COMMON_RUN_PRIORITY_H_

namespace ksearch {

// RunConfig.priority.
inline constexpr int kLeastPriority = 1;
inline constexpr int kDefaultPriority = 10;
inline constexpr int kMostPriority = 100;

}  // namespace ksearch

#endif  // KSEARCH_COMMON_RUN_PRIORITY_H_
