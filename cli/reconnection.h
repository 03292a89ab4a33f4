#ifndef KSEARCH_CLI_RECONNECTION_H_
#define KSEARCH_CLI_RECONNECTION_H_

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace ksearch {

// How long a stream of replies is asked for again after the last one: a busy machine may lose a
// connection, and a coordinator may be restarted.
inline constexpr absl::Duration kReconnectFor = absl::Seconds(60);

// Decides whether a stream that broke off is asked for again. Not for one that never began: then
// there is probably no coordinator. Thread-compatible.
class Reconnection {
 public:
  void NoteReply() { give_up_ = absl::Now() + kReconnectFor; }
  // Returns true, after a pause, if the stream should be asked for again. `status`: how it ended.
  bool WaitToAskAgain(const absl::Status& status) const {
    if (!absl::IsUnavailable(status) || absl::Now() >= give_up_) return false;
    absl::SleepFor(absl::Milliseconds(500));
    return true;
  }

 private:
  absl::Time give_up_ = absl::InfinitePast();  // before the first reply
};

}  // namespace ksearch

#endif  // KSEARCH_CLI_RECONNECTION_H_
