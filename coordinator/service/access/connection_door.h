#ifndef KSEARCH_COORDINATOR_SERVICE_ACCESS_CONNECTION_DOOR_H_
#define KSEARCH_COORDINATOR_SERVICE_ACCESS_CONNECTION_DOOR_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "common/unique_fd.h"

namespace ksearch {

// Accepts TCP connections and hands them over, up to a limit, so that unauthenticated peers cannot
// exhaust the descriptors of the process (after which gRPC 1.51 would never accept again). At the
// limit, a new connection replaces an unauthenticated one: the oldest from the address that has the
// most. Authenticated connections are never dropped; if all are authenticated, the new one is
// refused. Thread-safe.
class ConnectionDoor {
 public:
  struct Options {
    std::string host;  // name or address; IPv6 without brackets
    int port = 0;      // 0: picks a free one
    int max_connections = 1024;
  };
  // Takes over `fd`, which is connected, non-blocking and close-on-exec. Called on the door's
  // thread.
  using Welcome = std::function<void(int listener_fd, UniqueFd fd)>;

  // Binds and listens; no connection is accepted before Open. ALREADY_EXISTS: the port is in use.
  static absl::StatusOr<std::unique_ptr<ConnectionDoor>> Listen(Options options);
  // Connections that were handed over stay open.
  ~ConnectionDoor();
  ConnectionDoor(const ConnectionDoor&) = delete;
  ConnectionDoor& operator=(const ConnectionDoor&) = delete;

  // Must be called once.
  void Open(Welcome welcome);
  // Stops accepting connections. Idempotent.
  void Close();
  // Marks a peer as authenticated once one of its calls was admitted. `peer` is in gRPC's form:
  // "ipv4:127.0.0.1:2345", "ipv6:%5B::1%5D:2345".
  void MakeKnown(absl::string_view peer);
  int port() const { return port_; }

 private:
  // A connection that was handed over. Its descriptor may have been closed since and the number
  // reused; the inode tells them apart.
  struct Guest {
    int fd;
    ino_t inode;
    int64_t number;  // in order of arrival
    std::string host;
    bool known = false;
  };

  ConnectionDoor(Options options, std::vector<UniqueFd> listeners, int port, UniqueFd wake_read,
                 UniqueFd wake_write);
  void Loop();
  void Admit(int listener_fd, UniqueFd fd);
  // Makes room for one more connection if necessary. Returns false if there is none.
  bool MakeRoom(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropClosedConnections() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LogCrowd(absl::Time now);

  const Options options_;
  const std::vector<UniqueFd> listeners_;
  const int port_;
  const UniqueFd wake_read_, wake_write_;
  Welcome welcome_;  // set before thread_

  Mutex mu_;
  absl::flat_hash_map<std::string, Guest> guests_ ABSL_GUARDED_BY(mu_);  // by "address:port"

  // Used only by thread_.
  int64_t next_number_ = 0;
  // monotonic clock: when closed connections were last looked for
  absl::Time last_look_ = absl::InfinitePast();
  int64_t turned_away_ = 0;  // since the last log line
  int64_t made_room_ = 0;
  absl::Time last_log_ = absl::InfinitePast();
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_CONNECTION_DOOR_H_
