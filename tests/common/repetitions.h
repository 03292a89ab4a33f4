#ifndef KSEARCH_TESTS_COMMON_REPETITIONS_H_
#define KSEARCH_TESTS_COMMON_REPETITIONS_H_

namespace ksearch {

// How often a test tries a property: `all` times, or, under sanitizers, only as often as finds
// memory errors, because each time takes many times as long there.
template <typename Count>
constexpr Count Repetitions([[maybe_unused]] Count all, [[maybe_unused]] Count sanitized) {
#ifdef KSEARCH_SANITIZED
  return sanitized;
#else
  return all;
#endif
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COMMON_REPETITIONS_H_
