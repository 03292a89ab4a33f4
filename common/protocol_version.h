#ifndef KSEARCH_COMMON_PROTOCOL_VERSION_H_
#define KSEARCH_COMMON_PROTOCOL_VERSION_H_

namespace ksearch {

// The value of WorkerHello.protocol_version. Increased when a worker of the previous release cannot
// do this release's jobs: the identity of a job is computed in another way, or there is a new field
// that must not be ignored. Programs with equal numbers work together, whichever is upgraded first
// (docs/packages.md). 2: jobs name their trusted programs and languages.
inline constexpr int kProtocolVersion = 2;

}  // namespace ksearch

#endif  // KSEARCH_COMMON_PROTOCOL_VERSION_H_
