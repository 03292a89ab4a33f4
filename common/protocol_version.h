#ifndef KSEARCH_COMMON_PROTOCOL_VERSION_H_
#define KSEARCH_COMMON_PROTOCOL_VERSION_H_

namespace ksearch {

// What WorkerHello.protocol_version says. Raised when a worker of the release before cannot do this
// release's jobs: the identity of a job is made in another way, or a field has come that must not
// be ignored. Programs whose numbers are the same work together, whichever is upgraded first
// (docs/packages.md). 2: jobs name their trusted programs and languages.
inline constexpr int kProtocolVersion = 2;

}  // namespace ksearch

#endif  // KSEARCH_COMMON_PROTOCOL_VERSION_H_
