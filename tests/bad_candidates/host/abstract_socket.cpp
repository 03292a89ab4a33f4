// Abstract sockets have no path that a mount namespace could hide. A pair is not refused, but may
// neither be bound nor connected.
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  bool worked = socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, "\0hostile", 8);
  const socklen_t size = offsetof(sockaddr_un, sun_path) + 8;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0) {
    worked |= bind(pair[0], reinterpret_cast<sockaddr*>(&address), size) == 0;
    worked |= connect(pair[1], reinterpret_cast<sockaddr*>(&address), size) == 0;
    worked |= sendto(pair[1], "x", 1, 0, reinterpret_cast<sockaddr*>(&address), size) == 1;
  }
  return Attacked(args, worked);
}
