#ifndef KSEARCH_TESTS_AUTOSCALER_FREE_PORT_H_
#define KSEARCH_TESTS_AUTOSCALER_FREE_PORT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/unique_fd.h"

namespace ksearch {

// A loopback port on which nothing listens now, for programs that cannot pick one themselves; 0:
// there is none.
inline int FreePort() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return ntohs(address.sin_port);
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_AUTOSCALER_FREE_PORT_H_
