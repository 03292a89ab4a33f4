#ifndef KSEARCH_COORDINATOR_SERVICE_ACCESS_CONNECTION_DOOR_H_
#define KSEARCH_COORDINATOR_SERVICE_ACCESS_CONNECTION_DOOR_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/unique_fd.h"

namespace ksearch {

// Accepts TCP connections and hands them on, never more than a number at once, so that strangers
// cannot take all descriptors of the process (after which gRPC 1.51 would stop listening for good).
// When full, a newcomer takes the place of the connection that has received fewest bytes of those
// older than `grace`, which is never one that does work; if there is none, it is turned away. One
// thread.
class ConnectionDoor {
 public:
  struct Options {
    std::string host;  // name or address, IPv6 without brackets
    int port = 0;      // 0: a free one
    int max_connections = 1024;
    absl::Duration grace = absl::Seconds(2);
  };
  // Takes over `fd`: connected, non-blocking, close-on-exec. On the door's thread.
  using Welcome = std::function<void(int listener_fd, UniqueFd fd)>;

  // Binds and listens; nobody is let in before Open. ALREADY_EXISTS: the port is taken.
  static absl::StatusOr<std::unique_ptr<ConnectionDoor>> Listen(Options options);
  // Lets nobody in any more; connections handed on stay.
  ~ConnectionDoor();
  ConnectionDoor(const ConnectionDoor&) = delete;
  ConnectionDoor& operator=(const ConnectionDoor&) = delete;

  // Call once.
  void Open(Welcome welcome);
  int port() const { return port_; }

 private:
  // A connection handed on. Its descriptor may have been closed since, and its number used again:
  // the inode tells.
  struct Guest {
    int fd;
    ino_t inode;
    absl::Time since;
  };

  ConnectionDoor(Options options, std::vector<UniqueFd> listeners, int port, UniqueFd wake_read,
                 UniqueFd wake_write);
  void Loop();
  void Admit(int listener_fd, UniqueFd fd);
  // Whether there is room for one more, making it if need be.
  bool MakeRoom();

  const Options options_;
  const std::vector<UniqueFd> listeners_;
  const int port_;
  const UniqueFd wake_read_, wake_write_;
  Welcome welcome_;            // set before thread_
  std::vector<Guest> guests_;  // of thread_
  int64_t turned_away_ = 0;    // of thread_, since the last line in the log
  int64_t made_room_ = 0;
  absl::Time last_log_ = absl::InfinitePast();
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_CONNECTION_DOOR_H_
